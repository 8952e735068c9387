# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Facts of PyTorch. Nothing here initialises CUDA in a process where the job itself has not done so."""
import os
import sys
import warnings

from gpuwhy_agent import core, dynamo, inject

state = core.state
NOT_INITIALISED = "the job has not initialised CUDA, and asking would do it"
# A live-object pass over more than this is not worth its time at exit.
MOST_OBJECTS = 3000000


def _torch():
    return sys.modules["torch"]


def collect(moment):
    """Adds the facts that are cheap at this moment: import, step (after the first), refresh, exit."""
    facts = state.facts
    if moment == "import":
        _build(facts)
    _cuda(facts, moment)
    if moment == "import":
        return
    _settings(facts)
    _learnt(facts)
    if moment in ("step", "exit"):
        _parameters(facts, moment)
    if moment in ("refresh", "exit"):
        _loader_totals(facts)


def _build(facts):
    torch = _torch()
    facts.set("torch.version", str(torch.__version__))
    facts.set("torch.cuda_built", torch.version.cuda or "")
    facts.set("torch.hip_built", getattr(torch.version, "hip", None) or "")
    # No call to torch.backends.cudnn.version(): it loads cuDNN.
    get_arch = getattr(torch._C, "_cuda_getArchFlags", None)
    if get_arch is not None:
        facts.attempt("torch.arch_list", lambda: (get_arch() or "").split())
    else:
        facts.set("torch.arch_list", [])


def _cuda(facts, moment):
    torch = _torch()
    initialised = bool(torch.cuda.is_initialized())
    facts.set("torch.cuda_initialized", initialised)
    if initialised:
        facts.set("torch.cuda_available", True)
        _devices(facts)
    elif not (torch.version.cuda or getattr(torch.version, "hip", None)):
        facts.set("torch.cuda_available", False)
        facts.set("torch.device_count", 0)
        facts.set("torch.cuda_error", "Torch not compiled with CUDA enabled")
    elif moment == "exit" and not _driver_nodes():
        _ask_without_driver(facts)
    elif moment != "import" and inject.mapped("libcuda.so"):
        # The job has loaded the driver already (torch.cuda.is_available() does): asking again changes nothing.
        _ask_with_driver(facts)
    else:
        for name in ("torch.cuda_available", "torch.device_count"):
            facts.unknown(name, NOT_INITIALISED)


def _driver_nodes():
    """Is there a device through which the driver could be initialised? (/dev/dxg: WSL)"""
    return os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg")


def _ask_with_driver(facts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facts.attempt("torch.cuda_available", _torch().cuda.is_available)
        facts.attempt("torch.device_count", _torch().cuda.device_count)


def _ask_without_driver(facts):
    """At exit, on a machine without a driver: initialisation fails at once, and the reason is what we want."""
    _ask_with_driver(facts)
    if facts.values.get("torch.cuda_available") is False:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _torch()._C._cuda_init()
        except Exception as error:
            facts.set("torch.cuda_error", str(error)[:500])


def _devices(facts):
    torch = _torch()
    count = torch.cuda.device_count()
    facts.set("torch.device_count", count)
    for index in range(count):
        name = "torch.device.%d." % index
        if name + "name" not in facts.values:
            _device(facts, name, torch.cuda.get_device_properties(index))
        _memory(facts, index)
    cudnn = sys.modules.get("torch.backends.cudnn")
    if getattr(cudnn, "__cudnn_version", None):  # set once the job's own work has loaded cuDNN
        facts.set("torch.cudnn_version", int(getattr(cudnn, "__cudnn_version")))
    else:
        facts.unknown("torch.cudnn_version", "the job has not loaded cuDNN through torch.backends.cudnn")


def _device(facts, name, properties):
    facts.set(name + "name", properties.name)
    facts.set(name + "capability", "%d.%d" % (properties.major, properties.minor))
    facts.set(name + "total_bytes", int(properties.total_memory))
    uuid = getattr(properties, "uuid", None)
    if uuid is not None:
        facts.set(name + "uuid", "GPU-" + str(uuid) if not str(uuid).startswith("GPU-") else str(uuid))
    else:
        facts.unknown(name + "uuid", "this torch does not tell it")
    parts = [getattr(properties, part, None) for part in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
    if None not in parts:
        facts.set(name + "pci_bus_id", "%08x:%02x:%02x.0" % tuple(parts))
    else:
        facts.unknown(name + "pci_bus_id", "this torch does not tell it")


def _memory(facts, index):
    torch = _torch()
    name = "torch.memory.%d." % index
    statistics = torch.cuda.memory_stats(index)  # {} where the allocator was never used on the device
    for fact, key in (("allocated_bytes", "allocated_bytes.all.current"), ("reserved_bytes", "reserved_bytes.all.current"),
                      ("max_allocated_bytes", "allocated_bytes.all.peak"), ("retries", "num_alloc_retries"), ("ooms", "num_ooms")):
        facts.set(name + fact, int(statistics.get(key, 0)))
    fraction = getattr(torch.cuda, "get_per_process_memory_fraction", None)
    if fraction is not None:
        facts.attempt(name + "limit_bytes", lambda: int(fraction(index) * torch.cuda.get_device_properties(index).total_memory))
    else:
        facts.unknown(name + "limit_bytes", "this torch does not tell it")


def look_at_memory():
    """The current device's allocator in one call of C++; nothing where the job has not initialised CUDA."""
    torch = _torch()
    if not torch.cuda.is_initialized():
        return None
    device = torch.cuda.current_device()
    statistics = torch._C._cuda_memoryStats(device)
    allocs = statistics.get("num_device_alloc")  # torch >= 2.2
    return (device, int(statistics["allocated_bytes"]["all"]["current"]), int(statistics["reserved_bytes"]["all"]["current"]), allocs,
            statistics.get("num_alloc_retries"))


def _settings(facts):
    """Flags that C++ answers without a warning; each is a plain read."""
    torch = _torch()
    c = torch._C
    newer = getattr(c, "_get_fp32_precision_getter", None)  # torch >= 2.9: the older reads raise where both were set
    if newer is not None:
        facts.attempt("torch.tf32.matmul", lambda: newer("cuda", "matmul") == "tf32")
        facts.attempt("torch.tf32.cudnn", lambda: newer("cuda", "conv") == "tf32")
    else:
        facts.attempt("torch.tf32.matmul", c._get_cublas_allow_tf32)
        facts.attempt("torch.tf32.cudnn", c._get_cudnn_allow_tf32)
    facts.attempt("torch.cudnn_benchmark", c._get_cudnn_benchmark)
    facts.attempt("torch.grad_anomaly", torch.is_anomaly_enabled)
    dynamo.facts_of(facts)


def _learnt(facts):
    job = sys.modules["gpuwhy_agent.torch_hooks"].job
    if job.autocast is not None:
        facts.set("torch.amp", True)
        facts.set("torch.amp.device", job.autocast[0])
        facts.set("torch.amp.dtype", job.autocast[1].replace("torch.", ""))
    elif hasattr(_torch(), "autocast"):
        facts.set("torch.amp", False)
    if job.inputs is not None:
        facts.set("torch.inputs.device", job.inputs["device"])
        facts.set("torch.batch_size", job.inputs["batch"])
        if job.inputs["pinned"] is not None:
            facts.set("torch.inputs.pinned", job.inputs["pinned"])
        else:
            facts.unknown("torch.inputs.pinned", "inputs are not on the CPU" if job.inputs["device"] != "cpu" else NOT_INITIALISED)
    else:
        for name in ("torch.inputs.device", "torch.batch_size"):
            facts.unknown(name, "no batch came out of a torch DataLoader")
    facts.set("torch.optimizers", len(job.optimizers))


def _parameters(facts, moment):
    """Where the model lives: the parameters that optimizers hold; without a step, the parameters alive at exit."""
    job = sys.modules["gpuwhy_agent.torch_hooks"].job
    optimizer = job.first_optimizer() if job.first_optimizer is not None else None
    if optimizer is not None:
        tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        facts.set("torch.optimizer", type(optimizer).__name__)
    elif not job.optimizers:
        tensors = _live_parameters()
    else:
        return
    if tensors is None:
        facts.unknown("torch.parameters.count", "too many live objects to look at")
        return
    sizes = {"cuda": 0, "cpu": 0}
    other, types = 0, set()
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        kind = tensor.device.type
        if kind in sizes:
            sizes[kind] += size
        else:
            other += size
        types.add(str(tensor.dtype).replace("torch.", ""))
    facts.set("torch.parameters.count", len(tensors))
    facts.set("torch.parameters.cuda_bytes", sizes["cuda"])
    facts.set("torch.parameters.cpu_bytes", sizes["cpu"])
    facts.set("torch.parameters.other_bytes", other)
    facts.set("torch.parameters.dtypes", sorted(types))


def _live_parameters():
    import gc
    kind = _torch().nn.Parameter
    objects = gc.get_objects()
    if len(objects) > MOST_OBJECTS:
        return None
    # type() and not isinstance(): the latter runs code of lazy proxy objects.
    return [each for each in objects if type(each) is kind]


def loader(number, data_loader):
    """Settings of one DataLoader, noted when it makes its first iterator."""
    facts = state.facts
    name = "torch.loader.%d." % number
    read = lambda attribute: getattr(data_loader, attribute, None)  # noqa: E731
    sampler = read("batch_sampler")
    batch_size = read("batch_size")
    facts.set(name + "workers", int(read("num_workers") or 0))
    facts.set(name + "batch_size", batch_size if batch_size is not None else getattr(sampler, "batch_size", None))
    facts.set(name + "pin_memory", bool(read("pin_memory")))
    facts.set(name + "persistent_workers", bool(read("persistent_workers")))
    facts.set(name + "prefetch_factor", read("prefetch_factor"))
    facts.set(name + "dataset", type(read("dataset")).__name__)
    facts.set(name + "iterable", str(read("_dataset_kind")) not in ("0", "None"))
    facts.set(name + "shuffle", type(read("sampler")).__name__ == "RandomSampler")
    facts.set(name + "drop_last", bool(read("drop_last")))
    if type(data_loader).__len__ is _torch().utils.data.DataLoader.__len__ and not facts.values[name + "iterable"]:
        facts.attempt(name + "length", lambda: len(data_loader))
    else:
        facts.unknown(name + "length", "asking an iterable dataset for its length runs code of the job")


def _loader_totals(facts):
    for _, known in sys.modules["gpuwhy_agent.torch_hooks"].job.loaders.values():
        name = "torch.loader.%d." % known.number
        facts.set(name + "iterators", known.iterators)
        facts.set(name + "start_seconds", round(known.start_seconds, 6))
        facts.set(name + "wait_seconds", round(known.wait_ns / 1e9, 6))
        facts.set(name + "first_wait_seconds", round(known.first_wait_ns / 1e9, 6))
        facts.set(name + "batches", known.sequence)
