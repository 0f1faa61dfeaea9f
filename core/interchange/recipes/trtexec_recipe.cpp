#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "interchange/recipes/recipe_pins.h"
#include "interchange/recipes/recipe_readers.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Why an option that TensorRT 11 took away is not taken over. Those that say types of layers are read.
const std::map<std::string, std::string, std::less<>> kGone{
    {"--fp8", "codes of fp8 come from QuantizeLinear and DequantizeLinear in the model"},
    {"--int4", "codes of int4 come from QuantizeLinear and DequantizeLinear in the model"},
    {"--calibProfile", "ranges are measured at the extents of the inputs that calibrate gets"},
    {"--minShapesCalib", "ranges are measured at the extents of the inputs that calibrate gets"},
    {"--optShapesCalib", "ranges are measured at the extents of the inputs that calibrate gets"},
    {"--maxShapesCalib", "ranges are measured at the extents of the inputs that calibrate gets"},
    {"--restricted", "TensorRT 11 does not have this option"},
    {"--weightless", "TensorRT 11 calls this option --stripWeights"},
    {"--buildOnly", "the option is called --skipInference since 8.6"},
    {"--nvtxMode", "the option is called --profilingVerbosity since 8.2"},
    {"--explicitBatch", "networks have no other form since 10.0"},
};

struct ListItem {
  std::string name, value, entry;
};

/// The entries of a list of NAME:VALUE as trtexec reads them: split at every comma, then at the last colon, or, of two
/// quotes, behind the second.
std::vector<ListItem> itemsOf(std::string_view option, const std::string& list, RecipePins& pins) {
  std::vector<ListItem> items;
  for (const std::string& text : split(list, ',')) {
    const std::string entry = fmt::format("{}={}", option, text);
    const auto quotes = std::ranges::count(text, '\'');
    if (quotes == 2) {
      const std::size_t first = text.find('\''), second = text.find('\'', first + 1);
      const std::string value = second + 2 <= text.size() ? text.substr(second + 2) : std::string();
      items.push_back({text.substr(first + 1, second - first - 1), value, entry});
    } else if (const std::size_t colon = text.rfind(':'); quotes == 0 && colon != std::string::npos) {
      items.push_back({text.substr(0, colon), text.substr(colon + 1), entry});
    } else {
      pins.refuse(entry, "trtexec cannot read it: an entry is NAME:TYPE, and lists are split at every comma");
    }
  }
  return items;
}

/// The first star stands for any run of characters, a second one for itself.
bool matchesWildcard(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  const std::string_view before = pattern.substr(0, star), behind = pattern.substr(star + 1);
  return name.size() >= before.size() + behind.size() && name.starts_with(before) && name.ends_with(behind);
}

class TrtexecReader {
 public:
  TrtexecReader(const Model& model, const RecipeOptions& options)
      : m_model(model), m_options(options), m_pins(model, options) {}

  Result<Recipe> run(const std::vector<std::string>& words) {
    m_recipe.kind = "command line of trtexec";
    for (const std::string& word : words) take(word);
    TRY(addPrecisions());
    addLayers();
    m_pins.moveInto(m_recipe, m_constraints == "obey" ? Strictness::Obey : Strictness::Prefer);
    return std::move(m_recipe);
  }

 private:
  void take(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? std::string() : word.substr(equals + 1);
    if (option == "--fp16" || option == "--bf16" || option == "--int8" || option == "--best" ||
        option == "--stronglyTyped") {
      m_flags.insert(option);
    } else if (option == "--precisionConstraints") {
      m_constraints = value;
    } else if (option == "--layerPrecisions" || option == "--layerOutputTypes") {
      m_layers.emplace_back(option, value);
    } else if (option == "--calib") {
      m_calib = value;
    } else if (option == "--memPoolSize" || option == "--workspace") {
      takeWorkspace(word, option, value);
    } else if (option == "--inputIOFormats" || option == "--outputIOFormats") {
      takeFormats(word, value);
    } else if (const auto gone = kGone.find(option); gone != kGone.end()) {
      m_pins.refuse(word, gone->second);
    } else if (option.starts_with("--") && option != "--onnx") {
      m_recipe.kept.push_back(word);
    }
  }

  /// In MiB, or with a unit; trtexec has several pools, of which one is the scratch memory of kernels.
  void takeWorkspace(const std::string& word, const std::string& option, const std::string& value) {
    for (std::string pool : option == "--workspace" ? std::vector{"workspace:" + value} : split(value, ',')) {
      if (!pool.starts_with("workspace:")) continue;
      pool.erase(0, std::string_view("workspace:").size());
      double number = 0;
      const auto [end, error] = std::from_chars(pool.data(), pool.data() + pool.size(), number);
      const std::string_view unit(end, static_cast<std::size_t>(pool.data() + pool.size() - end));
      const std::map<std::string_view, double> kUnits{{"", 1 << 20},    {"B", 1},        {"K", 1 << 10},
                                                      {"M", 1 << 20},   {"G", 1 << 30},  {"KiB", 1 << 10},
                                                      {"MiB", 1 << 20}, {"GiB", 1 << 30}};
      const auto scale = kUnits.find(unit);
      constexpr double kMost = 1e15;
      const bool isSize =
          error == std::errc() && scale != kUnits.end() && number >= 0 && number * scale->second < kMost;
      if (!isSize) return m_pins.refuse(word, "it is not a size");
      m_recipe.workspaceBytes = std::llround(number * scale->second);
    }
    if (option != "--workspace") m_recipe.kept.push_back(word);
  }

  /// fp16:chw up to 10.x, chw since.
  void takeFormats(const std::string& word, const std::string& value) {
    const bool typed = value.find(':') != std::string::npos;
    const bool wide = value.find("fp16") == std::string::npos && value.find("bf16") == std::string::npos &&
                      value.find("int8") == std::string::npos;
    if (typed && !wide)
      m_pins.refuse(word,
                    "TensorRT 11 takes the types of inputs and outputs from the network: --io plan gives them "
                    "those of the plan");
    else
      m_recipe.kept.push_back(word);
  }

  Status addPrecisions() {
    auto& types = m_recipe.precisions;
    const bool best = m_flags.contains("--best");
    if (m_flags.contains("--stronglyTyped")) {
      for (const std::string& flag : m_flags)
        if (flag != "--stronglyTyped")
          m_pins.refuse(flag, "with --stronglyTyped TensorRT ignores it and uses the types of the model");
      return Done{};
    }
    if (m_flags.contains("--bf16")) types.push_back(DataType::BF16);
    if (m_flags.contains("--fp16") || best) types.insert(types.begin(), DataType::F16);
    if (!m_flags.contains("--int8") && !best) return Done{};
    if (m_calib.empty()) {
      const bool coded = std::ranges::any_of(m_model.graph->order(), [&](NodeId id) {
        return m_model.graph->node(id).is("QuantizeLinear") || m_model.graph->node(id).is("DequantizeLinear");
      });
      if (!coded)
        m_pins.refuse(
            best ? "--best" : "--int8",
            "integers need ranges, and the recipe names no calibration cache; fusescope calibrate makes ranges");
      return Done{};
    }
    std::filesystem::path path = m_calib;
    if (path.is_relative()) path = m_options.folder / path;
    auto ranges = rangesFromTensorRtCache(TRY(readTextFile(path)));
    if (!ranges.ok()) {
      Diagnostic error = std::move(ranges).error();
      error.where.file = path.string();
      return error;
    }
    addRanges(std::move(ranges).value(), m_model, m_recipe);
    return Done{};
  }

  void addLayers() {
    const bool applied = m_constraints == "obey" || m_constraints == "prefer";
    for (const auto& [option, list] : m_layers) {
      const std::vector<ListItem> items = itemsOf(option, list, m_pins);
      if (!applied) {
        for (const ListItem& item : items)
          m_pins.refuse(item.entry, fmt::format("with --precisionConstraints={} trtexec does not apply it: add "
                                                "--precisionConstraints=obey or prefer to the recipe",
                                                m_constraints));
        continue;
      }
      option == "--layerPrecisions" ? addPrecisionsOf(items) : addOutputs(items);
    }
  }

  /// A name that a layer has is that layer, whatever it holds; the parser's own names hold a star.
  bool isWildcard(const ListItem& item) const {
    return item.name.find('*') != std::string::npos && !m_pins.knows(item.name) &&
           !item.name.starts_with("(Unnamed Layer*");
  }

  void addPrecisionsOf(const std::vector<ListItem>& items) {
    std::vector<ListItem> wildcards;
    for (const ListItem& item : items) {
      if (isWildcard(item)) {
        std::erase_if(wildcards, [&](const ListItem& known) { return known.name == item.name; });
        wildcards.push_back(item);
      }
    }
    addWildcards(wildcards);
    for (const ListItem& item : items)  // an exact name goes before any wildcard
      if (!isWildcard(item)) m_pins.pinLayer(item.name, item.value, item.entry);
  }

  void addWildcards(const std::vector<ListItem>& wildcards) {
    std::map<std::string, std::int64_t> unclear;
    std::set<std::string> used;
    for (const std::string& node : m_pins.calculatingNodes()) {
      std::vector<const ListItem*> found;
      for (const ListItem& item : wildcards)
        if (matchesWildcard(item.name, node)) found.push_back(&item);
      for (const ListItem* item : found) used.insert(item->entry);
      if (found.empty()) continue;
      const bool agree =
          std::ranges::all_of(found, [&](const ListItem* item) { return item->value == found[0]->value; });
      if (agree) {
        pinByWildcard(node, *found[0]);
      } else {
        for (const ListItem* item : found) ++unclear[item->entry];
      }
    }
    for (const auto& [entry, nodes] : unclear)
      m_pins.refuse(entry, fmt::format("{} match wildcards of other types too, and TensorRT does not say which one it "
                                       "uses: give their exact names",
                                       counted(nodes, "node")));
    for (const ListItem& item : wildcards)
      if (!used.contains(item.entry)) m_pins.refuse(item.entry, "no node that calculates with floats matches it");
  }

  void pinByWildcard(const std::string& node, const ListItem& item) {
    if (m_refusedWildcards.contains(item.entry)) return;
    if (item.value != "fp32" && item.value != "fp16" && item.value != "bf16") m_refusedWildcards.insert(item.entry);
    m_pins.pinCalculating(node, item.value, item.entry);
  }

  void addOutputs(const std::vector<ListItem>& items) {
    for (const ListItem& item : items) {
      if (isWildcard(item))
        m_pins.refuse(item.entry,
                      "TensorRT 9.0 to 10.16 stores such outputs not in the type of the wildcard but in that of the "
                      "key '*', or in fp32: give the layers' exact names");
      else
        m_pins.leaveOutputs(item.name, split(item.value, '+'), item.entry);
    }
  }

  const Model& m_model;
  const RecipeOptions& m_options;
  RecipePins m_pins;
  Recipe m_recipe;
  std::set<std::string> m_flags, m_refusedWildcards;
  std::string m_constraints = "none", m_calib;
  std::vector<std::pair<std::string, std::string>> m_layers;
};

}  // namespace

Result<Recipe> readTrtexec(const std::vector<std::string>& words, const Model& model, const RecipeOptions& options) {
  return TrtexecReader(model, options).run(words);
}

}  // namespace fusescope
