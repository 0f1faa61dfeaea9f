#include <algorithm>

#include "base/json.h"
#include "base/shell_quoted.h"
#include "interchange/export_notes.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"
#include "planning/directives_file.h"

namespace fusescope {
namespace {

/// "--compiler onnxruntime --compiler-option level=all".
std::string compilerText(const PlanOptions& options) {
  std::string text = "--compiler " + options.compiler;
  for (const auto& [name, value] : options.compilerOptions)
    text += " --compiler-option " + shellQuoted(name + "=" + value);
  return text;
}

Result<Exported> writeDirectives(const Plan& plan, const ExportOptions&) {
  std::vector<ExportNote> notes = pinsNotHonoured(plan);
  if (plan.options.ranges != nullptr)
    notes.push_back({"a directives file does not contain the ranges: give --ranges beside --directives"});
  if (plan.options.compiler != kOwnCompiler || !plan.options.compilerOptions.empty())
    notes.push_back({"a directives file does not contain the compiler and its options: give " +
                     compilerText(plan.options) + " beside --directives"});
  const bool given = std::ranges::any_of(plan.inputSpecs, [](const InputSpec& spec) { return spec.source == "user"; });
  if (given)
    notes.push_back(
        {"a directives file does not contain the extents of the inputs: give --input, --min, --opt and --max beside "
         "--directives"});
  return Exported{toJson(directivesFileOf(plan.options)).dump(2) + "\n", std::move(notes)};
}

}  // namespace

extern const ExportRow kDirectivesRow{
    .readers = "Fusescope",
    .contents = "the directives, target, precision, workspace and weights stored as integers",
    .exactness =
        "a plan that is made from it has the same bytes; ranges, the compiler and the extents of inputs must be "
        "given separately"};

extern const Exporter kDirectivesExporter{.name = "directives",
                                          .title = "Directives of Fusescope",
                                          .extension = "json",
                                          .summary = "the plan's directives, for Fusescope to open again",
                                          .write = writeDirectives};

}  // namespace fusescope
