#include "interchange/recipes/read_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/user_json.h"
#include "interchange/recipes/recipe_readers.h"
#include "interchange/recipes/shell_words.h"
#include "planning/directives_file.h"

namespace fusescope {
namespace {

constexpr const char* kKinds =
    "A recipe is a command line of trtexec or Polygraphy, a Python script with tables of layers, a tactic replay of "
    "Polygraphy, a calibration cache of TensorRT, or directives of Fusescope.";

Recipe ofDirectives(DirectivesFile file) {
  Recipe recipe{.kind = "directives of Fusescope"};
  if (file.precisions) recipe.precisions = std::move(*file.precisions);
  recipe.directives = std::move(file.directives);
  recipe.workspaceBytes = file.workspaceBytes.value_or(0);
  return recipe;
}

Result<Recipe> readJson(std::string_view text, const Model& model, const RecipeOptions& options) {
  auto parsed = parseUserJson(text);
  if (!parsed.ok()) return Diagnostic{.message = parsed.error().message, .where = parsed.error().where, .help = kKinds};
  const Json json = std::move(parsed).value();
  if (json.is_object() && json.contains("format")) return ofDirectives(TRY(directivesFileFromJson(json)));
  const bool isReplay = json.is_object() && !json.empty() &&
                        (json.contains("replay") || text.find("\"IterationContext\"") != std::string_view::npos);
  if (isReplay) return readReplay(json, model, options);
  return Diagnostic{.message = "this JSON is not a recipe of a known kind", .help = kKinds};
}

bool isPython(std::string_view text) {
  return text.starts_with("import ") || text.starts_with("from ") || text.find("\nimport ") != std::string_view::npos ||
         text.find("\nfrom ") != std::string_view::npos || text.find("\ndef ") != std::string_view::npos ||
         text.find(" = [\n") != std::string_view::npos || text.find(" = {\n") != std::string_view::npos;
}

/// The words of a command behind those that start `program`, by any path; nothing: it is another command.
std::optional<std::vector<std::string>> wordsBehind(const std::vector<std::string>& command, std::string_view program) {
  const auto found = std::ranges::find_if(
      command, [&](const std::string& word) { return word.substr(word.rfind('/') + 1) == program; });
  if (found == command.end()) return std::nullopt;
  return std::vector<std::string>(found + 1, command.end());
}

/// The command line that a log of trtexec begins with: "&&&& RUNNING TensorRT.trtexec [TensorRT v101601] # trtexec …".
std::string_view commandOfLog(std::string_view text) {
  const std::size_t start = text.find("&&&& RUNNING TensorRT.trtexec");
  if (start == std::string_view::npos) return {};
  const std::string_view line = text.substr(start, text.find('\n', start) - start);
  const std::size_t command = line.find("# ");
  return command == std::string_view::npos ? std::string_view() : line.substr(command + 2);
}

Result<Recipe> readCommands(std::string_view text, const Model& model, const RecipeOptions& options) {
  const auto commands = shellCommands(text);
  for (const auto& command : commands) {
    if (const auto words = wordsBehind(command, "trtexec")) return readTrtexec(*words, model, options);
    if (const auto words = wordsBehind(command, "polygraphy")) return readPolygraphy(*words, model, options);
  }
  // Options alone, as people keep them in a variable or a file.
  for (const auto& command : commands) {
    if (command.front().starts_with("--layer-precisions") || command.front().starts_with("--precision-constraints"))
      return readPolygraphy(command, model, options);
    if (command.front().starts_with("--")) return readTrtexec(command, model, options);
  }
  return Diagnostic{.message = "this is not a recipe of a known kind", .help = kKinds};
}

}  // namespace

void addRanges(Ranges ranges, const Model& model, Recipe& recipe) {
  std::int64_t unknown = 0;
  std::string first;
  std::erase_if(ranges.edges, [&](const auto& edge) {
    if (model.graph->findValue(edge.first)) return false;
    if (unknown++ == 0) first = edge.first;
    return true;
  });
  if (unknown > 0)
    recipe.unmapped.push_back(
        {fmt::format("the scale of '{}'{}", first, unknown == 1 ? "" : fmt::format(" and of {} others", unknown - 1)),
         "no value of the model has this name: the cache belongs to another model, or TensorRT's parser made the "
         "tensor"});
  if (ranges.edges.empty()) return;
  recipe.ranges = std::make_shared<const Ranges>(std::move(ranges));
  recipe.precisions.insert(recipe.precisions.begin(), DataType::I8);
}

Result<Recipe> readCalibration(std::string_view text, const Model& model) {
  Recipe recipe{.kind = "calibration cache of TensorRT"};
  addRanges(TRY(rangesFromTensorRtCache(text)), model, recipe);
  return recipe;
}

Result<Recipe> readRecipe(std::string_view text, const Model& model, const RecipeOptions& options) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return Diagnostic{.message = "the recipe is empty", .help = kKinds};
  if (const std::string_view command = commandOfLog(text); !command.empty()) {
    RecipeOptions ofLog = options;
    if (!ofLog.layerNames && text.find("Registering layer: ") != std::string_view::npos)
      ofLog.layerNames = std::string(text);
    return readRecipe(command, model, ofLog);
  }
  Recipe recipe = TRY(text[start] == '{'         ? readJson(text, model, options)
                      : text.starts_with("TRT-") ? readCalibration(text, model)
                      : isPython(text)           ? readPythonTables(text, model, options)
                                                 : readCommands(text, model, options));
  if (!recipe.directives.empty() || !recipe.precisions.empty()) return recipe;
  constexpr std::size_t kMostNamed = 3;
  std::string help;
  for (const UnmappedEntry& entry : std::span(recipe.unmapped).first(std::min(kMostNamed, recipe.unmapped.size())))
    help += fmt::format("{}: {}. ", entry.entry, entry.why);
  if (recipe.unmapped.size() > kMostNamed)
    help += fmt::format("The same is true of {} more entries.", recipe.unmapped.size() - kMostNamed);
  return Diagnostic{.message = fmt::format("the recipe ({}) contains no request that can be taken over", recipe.kind),
                    .help = help.empty() ? "It must allow a type (--fp16), or ask for the type of a layer." : help};
}

Result<Recipe> readRecipeFile(const std::filesystem::path& path, const Model& model,
                              std::optional<std::string> layerNames) {
  auto recipe =
      readRecipe(TRY(readTextFile(path)), model, {.folder = path.parent_path(), .layerNames = std::move(layerNames)});
  if (recipe.ok()) return recipe;
  Diagnostic error = std::move(recipe).error();
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

}  // namespace fusescope
