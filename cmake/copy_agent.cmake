# Copies the agent's sources beside its generated module, keeping that one.
file(COPY ${FROM}/ DESTINATION ${TO} FILES_MATCHING PATTERN "*.py" PATTERN "wire_gen.py" EXCLUDE PATTERN "__pycache__" EXCLUDE)
file(TOUCH ${TO}/sitecustomize.py)
