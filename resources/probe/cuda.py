"""The part of the CUDA driver that is needed to run a network on a card, by ctypes, so that nothing has to be
installed.

Finding cards, memory and copies were tried on a card (an H200). What uses this module, the engine of a compiler, was
not.
"""

import ctypes

from .base import Refusal

LIBRARY = "libcuda.so.1"
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_…


def devices():
    """Returns [{name, sm, memory}] and, if it is empty, the reason as a sentence."""
    try:
        driver = Driver()
        driver.call("cuInit", 0)
        count = ctypes.c_int()
        driver.call("cuDeviceGetCount", ctypes.byref(count))
        found = [describe(driver, index) for index in range(count.value)]
    except OSError:
        return [], f"There is no NVIDIA driver here ({LIBRARY} cannot be loaded)."
    except Refusal as refusal:
        return [], refusal.message
    except Exception as error:  # an unusual driver must not prevent compiling
        return [], f"The NVIDIA driver cannot be asked: {type(error).__name__}: {error}"
    return found, "" if found else "The NVIDIA driver knows no card here."


def describe(driver, index):
    device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
    driver.call("cuDeviceGet", ctypes.byref(device), index)
    driver.call("cuDeviceGetName", name, len(name), device)
    driver.call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
    sm = []
    for attribute in (COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR):
        value = ctypes.c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, device)
        sm.append(str(value.value))
    return {"name": name.value.decode("utf-8", "replace"), "sm": "".join(sm), "memory": memory.value}


class Driver:
    def __init__(self):
        self._library = ctypes.CDLL(LIBRARY)

    def call(self, function, *arguments):
        status = getattr(self._library, function)(*arguments)
        if status != 0:
            words = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(words))
            text = words.value.decode("utf-8", "replace") if words.value else f"error {status}"
            kind = "memory" if status == OUT_OF_MEMORY else "no_device"
            raise Refusal(f"The NVIDIA driver says: {text} ({function}).", kind=kind)


class Context:
    """The first card, and a stream on it. Its context is the one that compilers use as well."""

    def __init__(self):
        self._driver = Driver()
        self._driver.call("cuInit", 0)
        device, context, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self._driver.call("cuDeviceGet", ctypes.byref(device), 0)
        self._driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._driver.call("cuCtxSetCurrent", context)
        self._driver.call("cuStreamCreate", ctypes.byref(stream), 0)
        self.stream = stream.value

    def synchronise(self):
        self._driver.call("cuStreamSynchronize", ctypes.c_void_p(self.stream))

    def buffer(self, size):
        return DeviceBuffer(self._driver, size)


class DeviceBuffer:
    def __init__(self, driver, size):
        self._driver, self._size = driver, size
        pointer = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        self.address = pointer.value

    def fill(self, data):
        self._driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.address), bytes(data), ctypes.c_size_t(self._size))

    def read(self):
        data = ctypes.create_string_buffer(max(self._size, 1))
        self._driver.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(self.address), ctypes.c_size_t(self._size))
        return data.raw[: self._size]

    def __del__(self):
        try:
            self._driver.call("cuMemFree_v2", ctypes.c_uint64(self.address))
        except (AttributeError, Refusal):
            pass  # it was never loaded, or the driver has ended


class HostBuffer:
    """Memory of this process, for inputs and outputs that are extents."""

    def __init__(self, size):
        self._data = ctypes.create_string_buffer(max(size, 1))
        self._size = size
        self.address = ctypes.addressof(self._data)

    def fill(self, data):
        ctypes.memmove(self._data, bytes(data), self._size)

    def read(self):
        return self._data.raw[: self._size]
