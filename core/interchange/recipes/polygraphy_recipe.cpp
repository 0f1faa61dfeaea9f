#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "interchange/recipes/recipe_pins.h"
#include "interchange/recipes/recipe_readers.h"

namespace fusescope {
namespace {

/// Options of Polygraphy's command line, each with the words up to the next one.
struct PolygraphyOption {
  std::string name;
  std::vector<std::string> values;
};

std::vector<PolygraphyOption> optionsOf(const std::vector<std::string>& words) {
  std::vector<PolygraphyOption> options;
  for (const std::string& word : words) {
    if (word.starts_with("-")) {
      const std::size_t equals = word.find('=');
      options.push_back({word.substr(0, equals), {}});
      if (equals != std::string::npos) options.back().values.push_back(word.substr(equals + 1));
    } else if (!options.empty()) {
      options.back().values.push_back(word);
    }
  }
  return options;
}

/// A fused layer of a replay: "conv + relu" is of both nodes. Of a part of the network only the ends are told.
std::vector<std::string> partsOf(const std::string& layer) {
  if (layer.starts_with("{ForeignNode[")) return {layer};
  std::vector<std::string> parts;
  std::string_view rest = layer;
  constexpr std::string_view kPlus = " + ";
  for (std::size_t at = rest.find(kPlus); at != std::string_view::npos; at = rest.find(kPlus)) {
    parts.emplace_back(rest.substr(0, at));
    rest.remove_prefix(at + kPlus.size());
  }
  parts.emplace_back(rest);
  return parts;
}

/// "DataType.HALF" of the first input of an algorithm, in which its layer calculates; empty: it is not told.
std::string typeOfAlgorithm(const Json& algorithm) {
  for (const char* key : {"inputs", "outputs"}) {
    const auto list = algorithm.find(key);
    if (list == algorithm.end() || !list->is_array() || list->empty() || !list->front().is_object()) continue;
    const auto type = list->front().find("dtype");
    if (type != list->front().end() && type->is_string()) return type->get<std::string>();
  }
  return {};
}

}  // namespace

Result<Recipe> readPolygraphy(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options) {
  Recipe recipe{.kind = "command line of Polygraphy"};
  RecipePins pins(model, options);
  std::string constraints = "none";
  std::vector<std::string> layers;
  std::optional<Recipe> script;
  for (const PolygraphyOption& option : optionsOf(words)) {
    const std::string value = option.values.empty() ? std::string() : option.values.front();
    if (option.name == "--fp16") recipe.precisions.insert(recipe.precisions.begin(), DataType::F16);
    if (option.name == "--bf16") recipe.precisions.push_back(DataType::BF16);
    if (option.name == "--precision-constraints") constraints = value;
    if (option.name == "--layer-precisions") layers = option.values;
    if (option.name == "--int8" && std::ranges::find(words, "--calibration-cache") == words.end())
      pins.refuse("--int8",
                  "integers need ranges, and the recipe names no calibration cache; fusescope calibrate makes ranges");
    if (option.name == "--tensor-dtypes" || option.name == "--fp8")
      pins.refuse(joined({option.name, joined(option.values, " ")}, " "),
                  "a strongly typed network contains these types itself: use --io plan, or QuantizeLinear and "
                  "DequantizeLinear");
    if (option.name == "--calibration-cache")
      addRanges(TRY(rangesFromTensorRtCache(TRY(readTextFile(options.folder / value)))), model, recipe);
    if (option.name == "--trt-network-postprocess-script" || option.name == "--trt-npps") {
      const std::string file = value.ends_with(".py") ? value : value.substr(0, value.rfind(':'));
      if (file != "THIS_FILE") script = TRY(readPythonTables(TRY(readTextFile(options.folder / file)), model, options));
    }
  }
  const bool applied = constraints == "obey" || constraints == "prefer";
  for (const std::string& text : layers) {
    const std::size_t colon = text.rfind(':');
    const std::string entry = "--layer-precisions " + text;
    if (colon == std::string::npos)
      pins.refuse(entry, "it is not of the form NAME:TYPE");
    else if (!applied)
      pins.refuse(entry, "without --precision-constraints obey or prefer TensorRT may ignore it: add that option");
    else
      pins.pinLayer(text.substr(0, colon), text.substr(colon + 1), entry);
  }
  const Strictness strictness = constraints == "obey" ? Strictness::Obey : Strictness::Prefer;
  pins.moveInto(recipe, strictness);
  if (script) {
    for (Directive directive : script->directives) {
      directive.id.clear();
      directive.strictness = strictness;
      const bool isKnown = std::ranges::any_of(recipe.directives, [&](const Directive& known) {
        return known.kind == directive.kind && known.pattern == directive.pattern;
      });
      if (!isKnown) recipe.directives.push_back(directive);
    }
    recipe.unmapped.insert(recipe.unmapped.end(), script->unmapped.begin(), script->unmapped.end());
    assignIds(recipe.directives);
  }
  return recipe;
}

Result<Recipe> readReplay(const Json& json, const Model& model, const RecipeOptions& options) {
  const auto replay = json.find("replay");
  if (replay == json.end() || !replay->is_object())
    return Diagnostic{
        .message = "this replay of `polygraphy debug` counts layers of TensorRT's network and names none",
        .help =
            "Take its result as a cut: the first or last layers that had to stay in float32, which `polygraphy debug "
            "precision` prints, as --pin NODE=f32; or let tune find the nodes."};
  Recipe recipe{.kind = "tactic replay of Polygraphy"};
  RecipePins pins(model, options);
  std::set<DataType> narrow;
  for (const auto& [layer, algorithm] : replay->items()) {
    const std::string type = algorithm.is_object() ? typeOfAlgorithm(algorithm) : std::string();
    if (type.empty()) {
      pins.refuse(layer, "the replay does not say in which type this layer was run");
      continue;
    }
    for (const std::string& part : partsOf(layer)) {
      const std::string entry = part == layer ? layer : fmt::format("{} (of '{}')", part, layer);
      if (layer.starts_with("Reformatting CopyNode") || layer.find(" copy") != std::string::npos)
        pins.refuse(layer, "TensorRT inserted this conversion; a network with the plan's types has Casts there");
      else if (const auto node = pins.nodeOf(part, entry); node && pins.calculates(*node))
        pins.pinCalculating(*node, type, entry);  // of a node that calculates nothing, types come with what it reads
    }
    if (type.ends_with("HALF")) narrow.insert(DataType::F16);
    if (type.ends_with("BF16")) narrow.insert(DataType::BF16);
  }
  // The types of layers that are none of this network's say nothing of it.
  if (!pins.empty()) recipe.precisions.assign(narrow.begin(), narrow.end());
  pins.moveInto(recipe, Strictness::Prefer);
  return recipe;
}

}  // namespace fusescope
