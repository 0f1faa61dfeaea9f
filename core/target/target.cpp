#include "target/target.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"

namespace fusescope {

namespace {

/// Every capability that can be named, weakest first.
constexpr std::array<std::string_view, 9> kCapabilityNames = {
    "avx2", "f16c", "avx512", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8", "amx_bf16", "amx_fp16"};
constexpr std::array<std::string_view, 4> kTargetNames = {"cpu", "tensorrt-8", "tensorrt-10", "tensorrt-11"};

std::vector<std::string> asStrings(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

Result<Capabilities> parseCapabilities(std::string_view text) {
  const std::vector<std::string> known = asStrings(kCapabilityNames);
  Capabilities capabilities;
  if (text == "none") return capabilities;
  for (const std::string& part : split(text, '+')) {
    if (std::find(known.begin(), known.end(), part) == known.end()) {
      return Diagnostic{.message = "unknown capability '" + part + "' of target cpu",
                        .where = {.attribute = "--target"},
                        .help = "Known capabilities: none, " + joined(known) + "."};
    }
    capabilities.insert(part);
  }
  return capabilities;
}

Target cpuTarget(Capabilities capabilities) {
  Target target;
  target.name = "cpu";
  target.computeTypes = {DataType::F32, DataType::F16, DataType::BF16};
  target.hardwareTypes = {DataType::F32};
  if (capabilities.contains("avx512_bf16") || capabilities.contains("amx_bf16")) {
    target.hardwareTypes.insert(DataType::BF16);
  }
  if (capabilities.contains("avx512_fp16") || capabilities.contains("amx_fp16")) {
    target.hardwareTypes.insert(DataType::F16);
  }
  target.capabilities = std::move(capabilities);
  target.acceleratedBackend = "native";
  return target;
}

Target tensorrtTarget(std::string_view name) {
  Target target;
  target.name = name;
  target.planningOnly = true;
  target.predictedFusions = true;
  target.stronglyTyped = name == "tensorrt-11";
  target.lacksFloat64 = true;
  target.lacksInt64 = name == "tensorrt-8";
  target.computeTypes = {DataType::F32, DataType::F16};
  if (name != "tensorrt-8") target.computeTypes.insert(DataType::BF16);
  target.hardwareTypes = target.computeTypes;
  target.acceleratedBackend = "tensorrt";
  return target;
}

}  // namespace

Result<Target> Target::fromName(std::string_view name) {
  if (name == "cpu") return cpuTarget(hostCapabilities());
  if (name.starts_with("cpu:")) return cpuTarget(TRY(parseCapabilities(name.substr(4))));
  if (name == "tensorrt-8" || name == "tensorrt-10" || name == "tensorrt-11") return tensorrtTarget(name);
  const std::vector<std::string> known = asStrings(kTargetNames);
  return Diagnostic{.message = "unknown target '" + std::string(name) + "'",
                    .where = {.attribute = "--target"},
                    .help = "Known targets: " + joined(known) + "; cpu may name capabilities: cpu:avx2+avx512_vnni."};
}

std::string Target::canonical() const {
  if (name != "cpu") return name;
  if (capabilities.empty()) return "cpu:none";
  return "cpu:" + joined({capabilities.begin(), capabilities.end()}, "+");
}

}  // namespace fusescope
