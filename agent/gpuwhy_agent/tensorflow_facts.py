# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Facts of TensorFlow and Keras. The runtime is asked only where the job has initialised it: starting it writes to stderr."""
import sys

from gpuwhy_agent import core

state = core.state
NOT_STARTED = "the job has not started TensorFlow's runtime, and asking would do it"


def collect(moment):
    """Adds the facts that are cheap at this moment: import, step (after the first train call), refresh, exit."""
    facts = state.facts
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "__version__"):
        _build(facts, tensorflow)
        _devices(facts, tensorflow)
    keras = sys.modules.get("keras") or sys.modules.get("tf_keras")
    if keras is not None and hasattr(keras, "__version__"):
        facts.set("keras.version", str(keras.__version__))
        _keras_backend(facts)
    if moment == "import":
        return
    _settings(facts)
    if moment in ("step", "exit"):
        _model(facts)


def _build(facts, tensorflow):
    facts.set("tensorflow.version", str(tensorflow.__version__))
    module = sys.modules.get("tensorflow.python.platform.build_info")
    info = getattr(module, "build_info", None)
    if info is None:
        facts.unknown("tensorflow.cuda_built", "this TensorFlow carries no build_info")
        return
    facts.set("tensorflow.cuda_built", bool(info.get("is_cuda_build", False)))
    facts.set("tensorflow.rocm_built", bool(info.get("is_rocm_build", False)))
    facts.set("tensorflow.cuda_version", str(info.get("cuda_version", "")))
    facts.set("tensorflow.cudnn_version", str(info.get("cudnn_version", "")))
    facts.set("tensorflow.arch_list", list(info.get("cuda_compute_capabilities", [])))


def _context():
    module = sys.modules.get("tensorflow.python.eager.context")
    return getattr(module, "_context", None)


def _devices(facts, tensorflow):
    context = _context()
    initialised = bool(context is not None and getattr(context, "_initialized", False))
    facts.set("tensorflow.initialized", initialised)
    listed = context is not None and getattr(context, "_physical_devices", None) is not None
    if not initialised and not listed:
        for name in ("tensorflow.gpu_count", "tensorflow.visible_gpu_count"):
            facts.unknown(name, NOT_STARTED)
        return
    gpus = context.list_physical_devices("GPU")
    facts.set("tensorflow.gpu_count", len(gpus))
    facts.attempt("tensorflow.visible_gpu_count", lambda: len(context.get_visible_devices("GPU")))
    for index, device in enumerate(gpus):
        _device(facts, context, index, device, initialised)


def _device(facts, context, index, device, initialised):
    name = "tensorflow.gpu.%d." % index
    if name + "name" not in facts.values:
        details = context.get_device_details(device)
        facts.set(name + "name", str(details.get("device_name", "")))
        capability = details.get("compute_capability")
        facts.set(name + "capability", "%d.%d" % tuple(capability) if capability else "")
        facts.unknown(name + "total_bytes", "TensorFlow does not tell it")
    facts.attempt(name + "memory_growth", lambda: bool(context.get_memory_growth(device)))
    limits = [each.memory_limit for each in (context.get_logical_device_configuration(device) or ()) if each.memory_limit]
    if limits:
        facts.set(name + "limit_bytes", int(sum(limits)) * 1024 * 1024)
    else:
        facts.unknown(name + "limit_bytes", "no limit was configured")
    if initialised:
        _memory(facts, context, name, index)


def _memory(facts, context, name, index):
    read = getattr(context, "get_memory_info", None)  # TensorFlow >= 2.5
    if read is None:
        facts.unknown(name + "allocated_bytes", "this TensorFlow does not tell it")
        return
    try:
        memory = read("GPU:%d" % index)
    except Exception as error:
        facts.unknown(name + "allocated_bytes", "%s: %s" % (type(error).__name__, error))
        return
    facts.set(name + "allocated_bytes", int(memory["current"]))
    facts.set(name + "max_allocated_bytes", int(memory["peak"]))


def _keras_backend(facts):
    value = getattr(sys.modules.get("keras.src.backend.config"), "_BACKEND", None)
    facts.set("keras.backend", str(value) if value else "tensorflow")  # Keras 2 has no other


def _settings(facts):
    context = _context()
    if context is not None:
        facts.attempt("tensorflow.xla", lambda: bool(context.optimizer_jit))
        facts.attempt("tensorflow.grappler.disabled", lambda: _switched_off(context))
    facts.attempt("tensorflow.retraced_functions", _retraced)
    functions = sys.modules.get("tensorflow.python.eager.polymorphic_function.eager_function_run")
    if functions is not None:
        facts.set("tensorflow.run_eagerly", bool(getattr(functions, "RUN_FUNCTIONS_EAGERLY", False)))


def _switched_off(context):
    """Passes of Grappler that the job switched off (tf.config.optimizer.set_experimental_options)."""
    options = context.get_optimizer_experimental_options()
    off = [name for name, value in options.items() if value is False and not name.startswith(("disable_", "debug"))]
    return sorted(off + [name for name in ("disable_meta_optimizer", "disable_model_pruning") if options.get(name) is True])


def _retraced():
    """Names of the tf.functions that TensorFlow itself warned of: five of its last ten calls were traced anew."""
    module = sys.modules.get("tensorflow.python.eager.polymorphic_function.polymorphic_function")
    module = module or sys.modules.get("tensorflow.python.eager.def_function")  # before 2.11
    manager = getattr(module, "_frequent_tracing_detector_manager", None)
    if manager is None:
        raise LookupError("this TensorFlow keeps no count of them")
    found = [key for key, detector in list(manager._detectors.items()) if detector._total_warning_count]
    return sorted(set(str(getattr(key, "co_name", "?")) for key in found))


def look_at_memory():
    """Memory of the first GPU in one call of C++; nothing before the job has started TensorFlow's runtime."""
    context = _context()
    if context is None or not getattr(context, "_initialized", False) or not context.list_logical_devices("GPU"):
        return None
    return (0, int(context.get_memory_info("GPU:0")["current"]), None, None, None)


def _traces(model):
    """How often Keras' train function was traced: itself, what it wraps, or the tf.function that its closure calls."""
    function = getattr(model, "train_function", None)
    function = function.function if type(function).__name__ == "TrainCall" else function  # our own wrapper
    for _ in range(6):
        count = getattr(function, "experimental_get_tracing_count", None)
        if count is not None:
            return int(count())
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        inner = [each for each in cells if hasattr(each, "experimental_get_tracing_count")]
        function = inner[0] if inner else getattr(function, "__wrapped__", None)
    raise LookupError("no tf.function was found behind the train function")


def _model(facts):
    job = getattr(sys.modules.get("gpuwhy_agent.tensorflow_hooks"), "job", None)
    model = job.model() if job is not None and job.model is not None else None
    if model is None:
        facts.unknown("tensorflow.variables.gpu_bytes", "the job did not train through Keras")
        return
    facts.attempt("keras.jit_compile", lambda: bool(getattr(model, "jit_compile", None) or getattr(model, "_jit_compile", False)))
    if getattr(model, "run_eagerly", False):
        facts.set("tensorflow.run_eagerly", True)
    facts.attempt("tensorflow.mixed_precision", lambda: _policy(model))
    facts.attempt("tensorflow.train_function.traces", lambda: _traces(model))
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        facts.set("keras.optimizer", type(optimizer).__name__)
    _placement(facts, model)
    if "keras.input" not in facts.values:
        _input(facts)


def _policy(model):
    """Name of the compute type of the model's layers: mixed precision has one below the variables'."""
    compute = set(str(getattr(layer, "compute_dtype", "")) for layer in model.layers) - {""}
    return sorted(compute & {"float16", "bfloat16"})[0] if compute & {"float16", "bfloat16"} else ""


def _placement(facts, model):
    gpu = cpu = other = count = 0
    for variable in model.variables:
        value = getattr(variable, "_value", None)  # Keras 3 wraps the backend's variable
        if value is None:
            value = variable
        device = str(getattr(value, "device", ""))
        size = _bytes(variable)
        count += 1
        if "GPU:" in device or "cuda" in device:
            gpu += size
        elif "CPU:" in device or "cpu" in device.lower():
            cpu += size
        else:
            other += size
    facts.set("tensorflow.variables.count", count)
    facts.set("tensorflow.variables.gpu_bytes", gpu)
    facts.set("tensorflow.variables.cpu_bytes", cpu)
    facts.set("tensorflow.variables.other_bytes", other)


_SIZES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4, "float16": 2,
          "bfloat16": 2, "int8": 1, "uint8": 1, "bool": 1}


def _bytes(variable):
    dtype = variable.dtype
    size = getattr(dtype, "size", None) or _SIZES.get(str(dtype), 4)
    for extent in variable.shape:
        size *= int(extent)
    return size


def _input(facts):
    """Kind of input and batch size of the running fit(): a local of its frame (Keras 3: epoch_iterator, Keras 2: data_handler)."""
    adapter = None
    frame = sys._getframe()
    while frame is not None and adapter is None:
        if frame.f_code.co_name == "fit":
            found = frame.f_locals.get("epoch_iterator") or frame.f_locals.get("data_handler")
            adapter = getattr(found, "data_adapter", None) or getattr(found, "_adapter", None)
        frame = frame.f_back
    if adapter is None:
        for name in ("keras.input", "keras.batch_size"):
            facts.unknown(name, "no fit() with a data adapter was on the stack")
        return
    facts.set("keras.input", type(adapter).__name__)
    size = adapter.batch_size
    size = size() if callable(size) else size
    if size is not None:
        facts.set("keras.batch_size", int(size))
    else:
        facts.unknown("keras.batch_size", "the dataset does not tell its batch size")
