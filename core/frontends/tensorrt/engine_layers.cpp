#include "frontends/tensorrt/engine_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "frontends/tensorrt/lenient_json.h"

namespace fusescope {
namespace {

constexpr std::array<std::string_view, 4> kLayerKeys{"Layers", "layers", "LayerInfo", "layerInfo"};
constexpr const char* kHowToBuild =
    "Layer information is written by: trtexec --profilingVerbosity=detailed --exportLayerInfo=layers.json.";
/// A limit for what a file can make this program allocate; no engine has more layers.
constexpr std::size_t kMostLayers = 1 << 18;

Diagnostic noLayers(std::string message) {
  return {.message = std::move(message), .help = kHowToBuild};
}

std::string textAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Extents that are not integers, such as symbols, become -1, which means open.
std::vector<std::int64_t> extentsAt(const Json& object, const char* key) {
  std::vector<std::int64_t> extents;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return extents;
  for (const Json& extent : *found) extents.push_back(extent.is_number_integer() ? extent.get<std::int64_t>() : -1);
  return extents;
}

ListedTensor tensorFrom(const Json& json) {
  ListedTensor tensor;
  if (json.is_string()) tensor.name = json.get<std::string>();
  if (!json.is_object()) return tensor;
  tensor.name = textAt(json, "Name");
  tensor.dims = extentsAt(json, "Dimensions");
  tensor.strides = extentsAt(json, "Strides");
  tensor.strideOrder = extentsAt(json, "StrideOrder");
  tensor.location = textAt(json, "Location");
  tensor.type = tensor.format = textAt(json, "Format/Datatype");
  for (const char* key : {"Datatype", "DataType"})
    if (json.contains(key)) tensor.type = textAt(json, key);
  if (json.contains("Format")) tensor.format = textAt(json, "Format");
  return tensor;
}

std::vector<ListedTensor> tensorsAt(const Json& layer, const char* key) {
  std::vector<ListedTensor> tensors;
  const auto found = layer.find(key);
  if (found != layer.end() && found->is_array())
    for (const Json& tensor : *found) tensors.push_back(tensorFrom(tensor));
  return tensors;
}

ListedLayer layerFrom(const Json& json) {
  ListedLayer layer;
  layer.name = textAt(json, "Name");
  layer.type = textAt(json, "LayerType");
  layer.tactic = textAt(json, "TacticName");
  layer.inputs = tensorsAt(json, "Inputs");
  layer.constants = tensorsAt(json, "Constants");
  layer.outputs = tensorsAt(json, "Outputs");
  layer.metadata = textAt(json, "Metadata");
  layer.parameter = textAt(json, "ParameterType");
  layer.origin = textAt(json, "Origin");
  if (const auto stream = json.find("StreamId"); stream != json.end() && stream->is_number_integer())
    layer.stream = stream->get<std::int64_t>();
  if (const auto weights = json.find("Weights"); weights != json.end() && weights->is_object())
    layer.weights = textAt(*weights, "Type");
  return layer;
}

EngineTensor engineTensorFrom(const Json& json) {
  if (json.is_string()) return {.name = json.get<std::string>()};
  if (!json.is_object()) return {};
  EngineTensor tensor{.name = textAt(json, "Name"), .type = textAt(json, "DataType")};
  tensor.dims = extentsAt(json, "Dimensions");
  const std::string mode = textAt(json, "IOMode");
  if (mode == "Input" || mode == "Output") tensor.isInput = mode == "Input";
  return tensor;
}

/// A key that a version introduced is not written by older ones.
std::string oldestVersionOf(const EngineLayers& engine, bool saysIo) {
  const auto anyLayer = [&](auto&& what) { return std::ranges::any_of(engine.layers, what); };
  const auto anyTensor = [&](auto&& what) {
    return anyLayer([&](const ListedLayer& layer) {
      return std::ranges::any_of(layer.inputs, what) || std::ranges::any_of(layer.outputs, what);
    });
  };
  if (saysIo || anyTensor([](const ListedTensor& tensor) { return tensor.type != tensor.format; })) return "11";
  if (anyLayer([](const ListedLayer& layer) { return layer.type == "kgen" || !layer.constants.empty(); })) return "10";
  if (anyLayer([](const ListedLayer& layer) { return layer.stream || !layer.metadata.empty(); })) return "8.6";
  if (anyTensor([](const ListedTensor& tensor) { return !tensor.location.empty(); })) return "8.4";
  return engine.namesOnly ? "" : "8.2";
}

Result<EngineLayers> engineFrom(const Json& json) {
  const Json* list = json.is_array() ? &json : nullptr;
  for (const std::string_view key : kLayerKeys)
    if (const auto found = json.is_object() ? json.find(key) : json.end(); list == nullptr && found != json.end())
      list = &*found;
  if (list == nullptr || !list->is_array())
    return noLayers("this is JSON, but not layer information of an engine: it has no list \"Layers\"");
  if (list->size() > kMostLayers) return noLayers(fmt::format("it lists more than {} layers", kMostLayers));
  EngineLayers engine;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    if (!entry.is_object() && !entry.is_string())
      return noLayers(fmt::format("layer {} of the list is neither an object nor a name", i));
    if (entry.is_object() && textAt(entry, "Name").empty())
      return noLayers(fmt::format("layer {} of the list has no \"Name\"", i));
    engine.namesOnly = engine.namesOnly || entry.is_string();
    engine.layers.push_back(entry.is_string() ? ListedLayer{.name = entry.get<std::string>()} : layerFrom(entry));
  }
  bool saysIo = false;
  for (const char* key : {"Bindings", "I/O Tensors"}) {
    const auto tensors = json.is_object() ? json.find(key) : json.end();
    if (tensors == json.end() || !tensors->is_array()) continue;
    saysIo = saysIo || std::string_view(key) != "Bindings";
    for (const Json& tensor : *tensors) engine.tensors.push_back(engineTensorFrom(tensor));
  }
  if (engine.layers.empty()) return noLayers("the list of layers is empty");
  engine.oldestVersion = oldestVersionOf(engine, saysIo);
  return engine;
}

/// A log line is "[07/07/2026-02:11:38] [I] …". A name may also begin with '['.
bool isLogLine(std::string_view line) {
  if (line.starts_with("&&&&")) return true;
  const std::size_t level = line.find("] [");
  return line.starts_with('[') && level != std::string_view::npos && line.substr(level + 4).starts_with(']');
}

/// Reads "x (Float[-1,1,28,28]), z (Int64[1])".
std::vector<ListedTensor> tensorsOfVerbose(std::string_view text) {
  std::vector<ListedTensor> tensors;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("])"), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    const std::size_t type = item.rfind(" ("), dims = item.find('[', type);
    if (type == std::string_view::npos || dims == std::string_view::npos) continue;
    ListedTensor& tensor = tensors.emplace_back();
    tensor.name = item.substr(0, type);
    tensor.type = tensor.format = item.substr(type + 2, dims - type - 2);
    for (const std::string& part : split(item.substr(dims + 1), ',')) {
      // "32:8" is an extent of which the format stores eight elements together.
      std::int64_t extent = -1;
      std::from_chars(part.data(), part.data() + part.size(), extent);
      tensor.dims.push_back(extent);
      if (const std::size_t block = part.find(':'); block != std::string::npos)
        tensor.format = fmt::format("{} by {} channels", tensor.type, part.substr(block + 1));
    }
  }
  return tensors;
}

/// Reads "Layer(CaskPooling): NAME, Tactic: 0x…, x (Float[1,2]) -> y (Float[1,2])" of a verbose log.
std::optional<ListedLayer> layerOfVerbose(std::string_view line) {
  constexpr std::string_view kStart = "Layer(", kName = "): ", kTactic = ", Tactic: ", kArrow = " -> ";
  const std::size_t name = line.find(kName), tactic = line.rfind(kTactic);
  if (!line.starts_with(kStart) || name == std::string_view::npos || tactic == std::string_view::npos || tactic < name)
    return std::nullopt;
  ListedLayer layer;
  layer.type = line.substr(kStart.size(), name - kStart.size());
  layer.name = line.substr(name + kName.size(), tactic - name - kName.size());
  const std::string_view rest = line.substr(tactic + kTactic.size());
  const std::size_t tensors = std::min(rest.find(", "), rest.size());
  layer.tactic = rest.substr(0, tensors);
  const std::string_view moved = rest.substr(std::min(tensors + 2, rest.size()));
  const std::size_t arrow = moved.rfind(kArrow);
  if (arrow == std::string_view::npos) return layer;
  layer.inputs = tensorsOfVerbose(moved.substr(0, arrow));
  layer.outputs = tensorsOfVerbose(moved.substr(arrow + kArrow.size()));
  return layer;
}

/// Reads a printed list: the lines between "Layers:" and what follows the last binding. A verbose log has another list,
/// of the layers before regions were divided into kernels; it is used if there is no printed list.
class PrintedList {
 public:
  explicit PrintedList(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
      const std::string_view words = std::string_view(line).substr(0, line.find_last_not_of('\r') + 1);
      if (words.ends_with("Layers:") && (isLogLine(words) || words == "Layers:")) {
        m_layers.clear();
        m_bindings.clear();
        m_state = State::Layers;
      } else if (isLogLine(words)) {
        m_state = State::Outside;
        if (words.ends_with("Engine Layer Information:")) m_verbose.clear();
      } else if (m_state == State::Outside && words.starts_with("Layer(")) {
        if (auto layer = layerOfVerbose(words)) m_verbose.push_back(std::move(*layer));
      } else if (m_state == State::Layers && (words == "Bindings:" || words.starts_with("I/O Tensors:"))) {
        m_state = words == "Bindings:" ? State::Bindings : State::Outside;
      } else if (m_state == State::Layers) {
        m_layers.emplace_back(words);
      } else if (m_state == State::Bindings && !words.empty()) {
        m_bindings.emplace_back(words);
      }
    }
  }

  Result<EngineLayers> read() const {
    EngineLayers engine;
    if (m_layers.empty()) engine.layers = m_verbose;
    engine.namesOnly = !m_layers.empty() &&
                       std::ranges::none_of(m_layers, [](const auto& line) { return line.starts_with("Name: "); });
    if (engine.namesOnly) {
      for (const std::string& line : m_layers)
        if (!line.empty()) engine.layers.push_back({.name = line});
    } else if (!m_layers.empty()) {
      engine.layers = TRY(parseLayerList(joined(m_layers, "\n")));
    }
    for (const std::string& binding : m_bindings) engine.tensors.push_back({.name = binding});
    if (engine.layers.empty())
      return noLayers(
          "this is not layer information of an engine: it is neither JSON nor a list that begins with \"Layers:\"");
    if (engine.layers.size() > kMostLayers) return noLayers(fmt::format("it lists more than {} layers", kMostLayers));
    engine.oldestVersion = oldestVersionOf(engine, false);
    return engine;
  }

 private:
  enum class State { Outside, Layers, Bindings };
  State m_state = State::Outside;
  std::vector<std::string> m_layers, m_bindings;
  std::vector<ListedLayer> m_verbose;
};

std::string_view withoutSpace(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // a byte order mark, which some tools write
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

/// '[' begins a list of JSON, and also a log line.
bool isJson(std::string_view text) {
  if (text.starts_with('{')) return true;
  if (!text.starts_with('[')) return false;
  const std::string_view inside = withoutSpace(text.substr(1));
  return inside.empty() || std::string_view("{\"]").find(inside.front()) != std::string_view::npos;
}

}  // namespace

Result<EngineLayers> parseEngineLayers(std::string_view text) {
  const std::string valid = validUtf8(text);
  const std::string_view words = withoutSpace(valid);
  if (words.empty()) return noLayers("the file is empty");
  if (isJson(words)) return engineFrom(TRY(parseLenientJson(words)));
  return PrintedList(words).read();
}

bool isEngineLayersFile(const std::filesystem::path& path) {
  constexpr std::size_t kLooked = 1 << 16;
  std::string start(kLooked, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  const std::string_view words = withoutSpace(start);
  // A file of Fusescope.
  if (words.starts_with('{') && words.find("\"format\"") < words.find("\"Layers\"")) return false;
  const auto holds = [&](std::string_view text) { return words.find(text) != std::string_view::npos; };
  if (words.starts_with('{'))
    return std::ranges::any_of(kLayerKeys, [&](std::string_view key) { return holds(fmt::format("\"{}\"", key)); }) ||
           holds("\"I/O Tensors\"");
  if (words.starts_with('[') && isJson(words)) return holds("\"LayerType\"") || holds("\"Name\"");
  return words.starts_with("&&&& RUNNING TensorRT") || words.starts_with("Layers:");
}

}  // namespace fusescope
