#include "interchange/export_inputs.h"

#include <fmt/format.h>

#include "base/name_hints.h"
#include "interchange/python_text.h"
#include "ir/extent_ranges.h"

namespace fusescope {

std::vector<InputSpec> givenInputSpecs(const Plan& plan) {
  std::vector<InputSpec> inputs;
  for (const InputSpec& spec : plan.inputSpecs)
    if (spec.source != "file" && spec.source != "assumed" && !spec.opt.empty()) inputs.push_back(spec);
  return inputs;
}

std::vector<ExportNote> notesOnAssumedInputs(const Plan& plan) {
  std::vector<std::string> names;
  for (const InputSpec& spec : plan.inputSpecs)
    if (spec.source == "assumed" && !spec.fixed()) names.push_back(spec.name);
  if (names.empty()) return {};
  return {
      {fmt::format("the extents of {} were not given, so this file does not contain them: give them with --input, "
                   "--min, --opt and --max, or write them into the network with fusescope inputs",
                   listed(names))}};
}

std::string extentsBy(const Dims& extents, std::string_view separator) {
  return fmt::format("{}", fmt::join(extents, separator));
}

std::string pythonInputs(const std::vector<InputSpec>& inputs) {
  if (inputs.empty()) return {};
  std::string table = "# The extents of inputs: MIN..OPT..MAX, or a number.\nINPUT_EXTENTS = {\n";
  for (const InputSpec& input : inputs)
    table += fmt::format("    {}: {},\n", pythonText(input.name), pythonText(extentRangesText(input)));
  return table + "}\n";
}

}  // namespace fusescope
