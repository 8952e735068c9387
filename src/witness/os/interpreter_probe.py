# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Tells which deep-learning packages this interpreter would import, without importing any of them.

Runs as `python -c` inside a foreign interpreter: syntax that Python 2.7 can parse and 3.6 can run, standard library only.
Prints one line of JSON behind the mark below; what a sitecustomize prints before it does no harm.
"""
import ast
import json
import os
import re
import sys

MARK = "gpuwhy-interpreter-probe:"
PACKAGE = re.compile(r"^(.+?)-([^-]+)(?:-py[\d.]+)?(?:-[\w.]+)?\.(?:dist-info|egg-info)$")
WANTED = re.compile(
    r"^(torch|torchvision|torchaudio|pytorch-lightning|lightning|tensorflow|tensorflow-(cpu|gpu|intel|macos|rocm|directml)|"
    r"tf-nightly|tf-nightly-cpu|jax|jaxlib|jax-(cuda|rocm).*|libtpu|keras|onnxruntime|onnxruntime-(gpu|directml)|nvidia-.*)$"
)
LIBRARY = re.compile(
    r"^lib(cudart|cublas|cublasLt|cudnn|cufft|cusparse|cusolver|curand|nvrtc|nccl|nvJitLink|cupti)(-[0-9a-f]{8})?\.so\.[\d.]+$"
)


def names_in(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def distributions(folders):
    """{name: version} from the folder names of the metadata; the first folder of sys.path wins, as in an import."""
    found = {}
    for folder in folders:
        for name in names_in(folder):
            match = PACKAGE.match(name)
            if match:
                key = re.sub(r"[-_.]+", "-", match.group(1)).lower()
                if WANTED.match(key):
                    found.setdefault(key, match.group(2))
    return found


def module_file(folders, *parts):
    """The file that an import would take, or None. The package folder is searched first: shadowing counts."""
    for folder in folders:
        if os.path.exists(os.path.join(folder, parts[0], "__init__.py")):
            path = os.path.join(folder, *parts)
            return path if os.path.exists(path) else None
    return None


def constant(node):
    """Value of an expression of constants; the pairs of OrderedDict([...]) as a dictionary; None for anything else."""
    try:
        if isinstance(node, ast.Call) and len(node.args) == 1:
            return dict(ast.literal_eval(node.args[0]))
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def assignments(path):
    """{name: value} of the plain assignments at the top of a Python file."""
    values = {}
    for node in ast.parse(read(path)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name):
                values[target.id] = constant(node.value)
    return values


def torch_build(folders):
    path = module_file(folders, "torch", "version.py")
    if path is None:
        return None
    values = assignments(path)
    return {"version": values.get("__version__"), "cuda": values.get("cuda"), "hip": values.get("hip"), "file": path}


def tensorflow_build(folders):
    path = module_file(folders, "tensorflow", "python", "platform", "build_info.py")
    if path is None:
        return None
    values = assignments(path)
    info = values.get("build_info") or values  # TensorFlow before 2.3 wrote plain names
    return {
        "is_cuda_build": info.get("is_cuda_build"),
        "cuda_version": info.get("cuda_version") or info.get("cuda_version_number"),
        "cudnn_version": info.get("cudnn_version") or info.get("cudnn_version_number"),
        "file": path,
    }


def cuda_libraries(folders):
    """CUDA libraries of wheels (nvidia/*/lib, torch/lib) and of a conda environment (prefix/lib)."""
    places = []
    for folder in folders:
        base = os.path.join(folder, "nvidia")
        places += [os.path.join(base, name, "lib") for name in names_in(base)]
        places.append(os.path.join(folder, "torch", "lib"))
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        places.append(os.path.join(sys.prefix, "lib"))
    return [os.path.join(place, name) for place in places for name in names_in(place) if LIBRARY.match(name)]


def guarded(faults, call, folders):
    try:
        return call(folders)
    except Exception as fault:  # pylint: disable=broad-except  # one broken package must not hide the others
        faults.append("%s: %s" % (call.__name__, fault))
        return None


def main():
    result = {"version": ".".join(str(part) for part in sys.version_info[:3]), "executable": sys.executable, "prefix": sys.prefix}
    if sys.version_info >= (3, 6):
        folders = [folder for folder in sys.path if folder and os.path.isdir(folder)]
        faults = []
        result["path"] = folders
        result["distributions"] = guarded(faults, distributions, folders)
        result["torch"] = guarded(faults, torch_build, folders)
        result["tensorflow"] = guarded(faults, tensorflow_build, folders)
        result["cuda_libraries"] = guarded(faults, cuda_libraries, folders)
        result["faults"] = faults
    sys.stdout.write("\n" + MARK + json.dumps(result, sort_keys=True) + "\n")


main()
