#include "interchange/trt_version_option.h"

#include "target/target_table.h"

namespace fusescope {
namespace {

std::string versionFor(const Plan& plan) {
  constexpr std::string_view kTensorrt = "tensorrt-";
  const std::string_view name = plan.target.name;
  if (!name.starts_with(kTensorrt)) return "10.3";
  const std::string major(name.substr(kTensorrt.size()));
  const TargetTable* const table = findTargetTable(name);
  const bool numbered = major.find_first_not_of("0123456789") == std::string::npos;
  const bool known = table != nullptr && (!numbered || table->operatorsOf.starts_with(major + "."));
  return known ? table->operatorsOf : major + ".0";
}

}  // namespace

const ExporterOption kTrtVersionOption{.name = "trt-version",
                                       .title = "TensorRT version",
                                       .help = "The version of TensorRT that the file is for.",
                                       .argument = "V",
                                       .proposed = versionFor};

}  // namespace fusescope
