#include "session/plan_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "calibration/ranges.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "session/open_model.h"

namespace fusescope {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A line with more directives than this would be hard to read.
constexpr std::size_t kMostDirectives = 8, kMostLetters = 600;
/// The value of --plan-a has quotes of its own, so that it cannot contain these characters.
constexpr const char* kQuotes = "'\"`\\\n\r\t";

/// A value that looks like an option is joined to its own option.
void addOption(Words& words, const std::string& name, const std::string& value) {
  if (value.starts_with("-")) {
    words.push_back(name + "=" + value);
  } else {
    words.insert(words.end(), {name, value});
  }
}

/// Returns whether the option expresses the whole directive.
bool saysAll(const Directive& directive) {
  const DirectiveForm& form = formOf(directive);
  if (form.option.empty() || form.print == nullptr || form.parse == nullptr) return false;
  auto read = form.parse(form.print(directive));
  if (!read.ok()) return false;
  Directive again = std::move(read).value();
  again.id = directive.id;
  return again == directive;
}

/// Returns the directives as options of the command line; nullopt if there are too many, or if options cannot express
/// this order.
std::optional<Words> directiveWords(const Directives& directives) {
  if (directives.size() > kMostDirectives || !std::ranges::all_of(directives, saysAll)) return std::nullopt;
  // Options are applied kind by kind.
  if (!std::ranges::is_sorted(directives, {}, &Directive::kind)) return std::nullopt;
  Words words;
  for (const Directive& directive : directives)
    addOption(words, std::string(formOf(directive).option), formOf(directive).print(directive));
  std::size_t letters = 0;
  for (const std::string& word : words) letters += word.size();
  return letters <= kMostLetters ? std::optional(std::move(words)) : std::nullopt;
}

/// Returns a file whose name is derived from its contents, so that a file of that name never has other contents.
CommandFile fileOf(const std::string& stem, const std::string& text, const fs::path& folder) {
  const std::string name = fmt::format("{}-{}.json", stem, hashText(text).hex().substr(0, 12));
  return {absolutePath((folder / name).string()), text};
}

std::string precisionText(const std::vector<DataType>& types) {
  Words names;
  for (const DataType type : types) names.emplace_back(name(type));
  return joined(names, ",");
}

/// Adds the target if it is not the default.
void addTarget(const PlanOptions& options, Words& words) {
  const Compiler* compiler = findCompiler(options.compiler);
  const std::string own = compiler == nullptr ? std::string() : compiler->target();
  if (options.target != (own.empty() ? PlanOptions().target : own)) addOption(words, "--target", options.target);
}

std::string dimsText(const Dims& dims) {
  Words extents;
  for (const std::int64_t extent : dims) extents.push_back(std::to_string(extent));
  return extents.empty() ? "scalar" : joined(extents, "x");
}

void addExtents(const std::vector<InputOverride>& inputs, Words& words) {
  for (const InputOverride& input : inputs) {
    const auto add = [&](const char* option, const std::optional<Dims>& dims) {
      if (dims) addOption(words, option, input.name + "=" + dimsText(*dims));
    };
    if (input.fixed || input.dtype)
      addOption(words, "--input",
                fmt::format("{}={}{}", input.name, input.fixed ? dimsText(*input.fixed) : "",
                            input.dtype ? ":" + std::string(name(*input.dtype)) : ""));
    add("--min", input.min);
    add("--opt", input.opt);
    add("--max", input.max);
  }
}

PlanWords wordsOf(const WorkSource& source, const fs::path& folder, bool withOptions) {
  const PlanOptions& options = source.options;
  const PlanOptions usual;
  PlanWords plan;
  if (options.compiler != usual.compiler) addOption(plan.words, "--compiler", options.compiler);
  for (const auto& [name, value] : options.compilerOptions)
    addOption(plan.words, "--compiler-option", name + "=" + value);
  const auto directives = withOptions ? directiveWords(options.directives) : std::nullopt;
  if (directives) {
    addTarget(options, plan.words);
    if (!options.precisions.empty()) addOption(plan.words, "--precision", precisionText(options.precisions));
    plan.words.insert(plan.words.end(), directives->begin(), directives->end());
    if (options.workspaceBytes != usual.workspaceBytes)
      addOption(plan.words, "--workspace", std::to_string(options.workspaceBytes));
    if (options.weightOnly.type != usual.weightOnly.type) {
      addOption(plan.words, "--weight-only", std::string(name(options.weightOnly.type)));
      if (options.weightOnly.block != 0) addOption(plan.words, "--block", std::to_string(options.weightOnly.block));
    }
  } else {
    plan.files.push_back(fileOf("directives", toJson(directivesFileOf(options)).dump(2) + "\n", folder));
    addOption(plan.words, "--directives", plan.files.back().path);
  }
  if (options.ranges != nullptr) {
    plan.files.push_back(fileOf("ranges", rangesText(*options.ranges), folder));
    addOption(plan.words, "--ranges", plan.files.back().path);
  }
  addExtents(source.inputs, plan.words);
  return plan;
}

bool holdsQuotes(const std::string& word) {
  return word.find_first_of(kQuotes) != std::string::npos;
}

}  // namespace

PlanWords planWords(const WorkSource& source, const fs::path& folder) {
  return wordsOf(source, folder, true);
}

Result<PlanWords> planWordsInOneWord(const WorkSource& source, const fs::path& folder) {
  PlanWords plan = wordsOf(source, folder, true);
  if (std::ranges::any_of(plan.words, holdsQuotes)) plan = wordsOf(source, folder, false);
  if (plan.words.empty()) return plan;
  std::string text;
  for (const std::string& word : plan.words) {
    if (holdsQuotes(word))
      return Diagnostic{.message = fmt::format("{} contains a quote, which the command diff cannot read", word),
                        .help = "Save the plan of each side with the command plan, and compare the two files."};
    text += text.empty() ? "" : " ";
    text += word.find(' ') == std::string::npos ? word : '"' + word + '"';
  }
  plan.words = {text};
  return plan;
}

}  // namespace fusescope
