#include "kernels/cudnn/device_properties.h"

#include <nlohmann/json.hpp>

namespace arenagrad::cudnn {

std::string DeviceProperties::json(std::size_t cudnn_version) const {
  return nlohmann::ordered_json{{"maxGridSize", {2147483647, 65535, 65535}},
                                {"maxBlockSize", {1024, 1024, 64}},
                                {"regsPerBlock", 65536},
                                {"multiProcessorCount", multiprocessors},
                                {"warpSize", 32},
                                {"maxSharedMemoryPerBlock", 49152},
                                {"maxSharedMemoryPerBlockOptin", shared_memory_optin},
                                {"reservedSharedMemoryPerBlock", reserved_shared_memory},
                                {"maxRegistersPerSM", 65536},
                                {"maxCtasPerSM", blocks_per_multiprocessor},
                                {"maxThreadsPerBlock", 1024},
                                {"maxThreadsPerSM", threads_per_multiprocessor},
                                {"pciDeviceId", 0},
                                {"isTccDriver", 0},
                                {"supportCoopLaunch", 1},
                                {"smClockRateKHz", clock_khz},
                                {"memClockRateKHz", memory_clock_khz},
                                {"l2CacheSize", l2_cache},
                                {"deviceName", name},
                                {"deviceVer", compute_major * 100 + compute_minor * 10},
                                {"driverVer", driver},
                                {"totalGlobalMem", memory},
                                {"cudaDeviceId", 0},
                                {"cudnnVersion", cudnn_version},
                                {"schemaVersion", 1}}
      .dump();
}

}  // namespace arenagrad::cudnn
