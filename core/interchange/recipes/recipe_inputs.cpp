#include "interchange/recipes/recipe_inputs.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "interchange/recipes/python_values.h"
#include "interchange/recipes/shell_words.h"
#include "ir/extent_ranges.h"

namespace fusescope {
namespace {

/// Which bound of an input an option gives; `shapes` of trtexec are all three where nothing else is said.
using Bound = Dims RecipeInput::*;
struct ProfileOption {
  std::string_view name;
  Bound bound = nullptr;  ///< null: all three
};
constexpr ProfileOption kTrtexecOptions[] = {{"--minShapes", &RecipeInput::min},
                                             {"--optShapes", &RecipeInput::opt},
                                             {"--maxShapes", &RecipeInput::max},
                                             {"--shapes"}};
constexpr ProfileOption kPolygraphyOptions[] = {{"--trt-min-shapes", &RecipeInput::min},
                                                {"--trt-opt-shapes", &RecipeInput::opt},
                                                {"--trt-max-shapes", &RecipeInput::max}};

/// Gathers what options say, input by input, in the order in which they are named.
class ProfileInputs {
 public:
  /// "x:1x3x224x224", at the last colon; trtexec takes a name between quotes without them.
  Status add(std::string_view text, Bound bound) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
      return Diagnostic{.message = "'" + std::string(text) + "' is not of the form NAME:EXTENTS"};
    std::string name(text.substr(0, colon));
    if (name.size() > 1 && name.front() == '\'' && name.back() == '\'') name = name.substr(1, name.size() - 2);
    std::string extents(text.substr(colon + 1));
    std::erase_if(extents, [](char c) { return c == '[' || c == ']' || c == ' '; });
    const auto ranges = parseExtentRanges(extents);
    if (!ranges.ok()) return Diagnostic{.message = ranges.error().message, .where = {.value = name}};
    const auto known = std::ranges::find(m_inputs, name, &RecipeInput::name);
    RecipeInput& input = known == m_inputs.end() ? m_inputs.emplace_back(RecipeInput{.name = name}) : *known;
    for (const Bound each : {&RecipeInput::min, &RecipeInput::opt, &RecipeInput::max}) {
      if (bound != nullptr ? each != bound : !(input.*each).empty()) continue;
      (input.*each).clear();
      for (const ExtentRange& range : ranges.value()) (input.*each).push_back(range.min);
    }
    return Done{};
  }

  std::vector<RecipeInput> take() { return std::move(m_inputs); }

 private:
  std::vector<RecipeInput> m_inputs;
};

Status addTrtexec(const std::vector<std::string>& words, ProfileInputs& inputs) {
  for (const ProfileOption& option : kTrtexecOptions)  // --shapes last: it fills in what the others leave
    for (const std::string& word : words) {
      if (!word.starts_with(std::string(option.name) + "=")) continue;
      for (const std::string& entry : split(word.substr(option.name.size() + 1), ','))
        TRY(inputs.add(entry, option.bound));
    }
  return Done{};
}

Status addPolygraphy(const std::vector<std::string>& words, ProfileInputs& inputs) {
  const ProfileOption* option = nullptr;
  for (const std::string& word : words) {
    if (word.starts_with("-")) {
      const auto known = std::ranges::find(kPolygraphyOptions, word, &ProfileOption::name);
      option = known == std::end(kPolygraphyOptions) ? nullptr : known;
    } else if (option != nullptr) {
      TRY(inputs.add(word, option->bound));
    }
  }
  return Done{};
}

/// INPUT_EXTENTS = {"x": "1..8..32,3"}: what our scripts hold.
Status addTable(const PythonValue& table, std::vector<RecipeInput>& inputs) {
  for (const auto& [name, value] : table.entries) {
    const auto ranges = parseExtentRanges(value.text);
    if (!ranges.ok()) return Diagnostic{.message = ranges.error().message, .where = {.value = name}};
    RecipeInput input{.name = name};
    for (const ExtentRange& range : ranges.value()) {
      input.min.push_back(range.min);
      input.opt.push_back(range.opt.value_or(range.min));
      input.max.push_back(range.max);
    }
    inputs.push_back(std::move(input));
  }
  return Done{};
}

/// What stands behind `begin` in the line that has `mark`: the command of a log of trtexec, and that which a script of
/// ours for Polygraphy says in a comment. Empty: there is none.
std::string_view lineWith(std::string_view text, std::string_view mark, std::string_view begin) {
  const std::size_t start = text.find(mark);
  if (start == std::string_view::npos) return {};
  std::string_view line = text.substr(start, text.find('\n', start) - start);
  const std::size_t command = line.find(begin);
  return command == std::string_view::npos ? std::string_view() : line.substr(command + begin.size());
}

}  // namespace

Result<std::vector<RecipeInput>> recipeInputs(std::string_view text) {
  const auto values = pythonValues(text);
  if (const auto table = values.find("INPUT_EXTENTS"); table != values.end()) {
    std::vector<RecipeInput> inputs;
    TRY(addTable(table->second, inputs));
    return inputs;
  }
  ProfileInputs inputs;
  for (const std::string_view part : {text, lineWith(text, "&&&& RUNNING TensorRT.trtexec", "# "),
                                      lineWith(text, "#   polygraphy convert ", "polygraphy ")})
    for (const std::vector<std::string>& command : shellCommands(part)) {
      TRY(addTrtexec(command, inputs));
      TRY(addPolygraphy(command, inputs));
    }
  return inputs.take();
}

Result<std::vector<RecipeInput>> readRecipeInputs(const std::filesystem::path& path) {
  auto inputs = recipeInputs(TRY(readTextFile(path)));
  if (inputs.ok() && !inputs.value().empty()) return inputs;
  Diagnostic error = inputs.ok()
                         ? Diagnostic{.message = "the file does not contain extents of inputs",
                                      .help =
                                          "Such extents are in a command line of trtexec or Polygraphy (--optShapes "
                                          "and similar options), or in a script that export wrote."}
                         : std::move(inputs).error();
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

}  // namespace fusescope
