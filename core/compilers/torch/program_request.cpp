#include "compilers/torch/program_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "compilers/torch/handed_program.h"

namespace fusescope::torch_compiler {
namespace {

constexpr const char* kMode = "mode";
constexpr const char* kDevice = "device";
constexpr const char* kHalf = "half";
constexpr const char* kTf32 = "tf32";
constexpr const char* kInductor = "inductor";

std::string optionOf(const Plan& plan, std::string_view name) {
  return torch_compiler::optionOf(plan, compilerOptions(), name);
}

LoweredPin lowered(const PrecisionGrant& grant, DataType half, bool isWhole) {
  LoweredPin pin{.node = grant.node, .type = grant.asked, .how = {}};
  if (half == DataType::F32) {
    pin.isExpressible = grant.asked == DataType::F32;
    pin.how = "torch calculates in the types of the exported program.";
  } else if (grant.asked == half) {
    pin.how = isWhole ? fmt::format("All floats of the exported program are of the type {}.", name(half))
                      : fmt::format("torch's autocast is asked for {}, which it chooses by operator.", name(half));
  } else {
    pin.isExpressible = false;
    pin.how = fmt::format("torch is asked for {} as a whole, and not node by node.", name(half));
  }
  return pin;
}

}  // namespace

std::vector<CompilerOption> compilerOptions() {
  return {{.name = kMode,
           .values = {"eager", kInductor},
           .initial = "eager",
           .help = "eager: operator by operator, as torch runs a program that is not compiled; inductor: with "
                   "torch.compile, which takes half a minute and needs a C++ compiler there"},
          {.name = kDevice,
           .values = {"auto", "cpu", "cuda"},
           .initial = "auto",
           .help = "the device on which it runs; auto: the first CUDA card if there is one, else the CPU"},
          {.name = kHalf,
           .values = {"autocast", "whole"},
           .initial = "autocast",
           .help = "how types below f32 are requested, if the plan has any: autocast chooses by operator; whole: all "
                   "floats of the program are of that type, as by .half(), which programs that name types cannot run"},
          {.name = kTf32,
           .values = {"default", "off"},
           .initial = "default",
           .help = "default: cards that can may multiply values of f32 in TF32, which keeps 10 bits of each mantissa, "
                   "where torch allows it by itself (in convolutions); off: nowhere"},
          programOption("torch")};
}

bool isInductor(const Plan& plan) {
  return optionOf(plan, kMode) == kInductor;
}

DataType halfType(const Plan& plan) {
  const auto count = [&](DataType type) {
    return std::ranges::count(plan.precisionMap, type, &PrecisionGrant::granted);
  };
  const auto bf16 = count(DataType::BF16), f16 = count(DataType::F16);
  if (bf16 == 0 && f16 == 0) return DataType::F32;
  return bf16 > f16 ? DataType::BF16 : DataType::F16;
}

Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) {
  const Plan& plan = *network.plan;
  Json json = TRY(handProgram(network, options, "torch"));
  const DataType half = halfType(plan);
  const std::string by = optionOf(plan, kHalf);
  network.pins.clear();
  for (const PrecisionGrant& grant : plan.precisionMap)
    if (grant.asked != DataType::Undefined) network.pins.push_back(lowered(grant, half, by == "whole"));
  json[kMode] = optionOf(plan, kMode);
  json[kDevice] = optionOf(plan, kDevice);
  json[kTf32] = optionOf(plan, kTf32);
  json["threads"] = options.threads;
  if (half != DataType::F32) {
    json["half"] = name(half);
    json["half_by"] = by;
  }
  return json;
}

}  // namespace fusescope::torch_compiler
