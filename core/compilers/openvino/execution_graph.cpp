#include "compilers/openvino/execution_graph.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compilers/openvino/xml_reader.h"

namespace fusescope {
namespace {

/// Returns the type for OpenVINO's name of an element type; these names differ from ours.
DataType openvinoType(std::string_view text) {
  static const std::map<std::string_view, DataType> kOthers = {
      {"boolean", DataType::Bool},  {"BOOL", DataType::Bool},     {"FP64", DataType::F64},
      {"FP32", DataType::F32},      {"FP16", DataType::F16},      {"BF16", DataType::BF16},
      {"I64", DataType::I64},       {"I32", DataType::I32},       {"I16", DataType::I16},
      {"I8", DataType::I8},         {"I4", DataType::I4},         {"U64", DataType::U64},
      {"U32", DataType::U32},       {"U16", DataType::U16},       {"U8", DataType::U8},
      {"U4", DataType::U4},         {"i64", DataType::I64},       {"i32", DataType::I32},
      {"i16", DataType::I16},       {"i8", DataType::I8},         {"i4", DataType::I4},
      {"u64", DataType::U64},       {"u32", DataType::U32},       {"u16", DataType::U16},
      {"u8", DataType::U8},         {"u4", DataType::U4},         {"u2", DataType::U2},
      {"U2", DataType::U2},         {"f8e4m3", DataType::F8E4M3}, {"f8e5m2", DataType::F8E5M2},
      {"STRING", DataType::String}, {"string", DataType::String}};
  const auto found = kOthers.find(text);
  return found != kOthers.end() ? found->second : dataTypeFromName(text).value_or(DataType::Undefined);
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::optional<std::int64_t> numberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

class GraphReader {
 public:
  explicit GraphReader(std::string_view xml) : m_xml(xml) {}

  Result<ExecutionGraph> run() {
    while (true) {
      const XmlReader::Event& event = *TRY(m_xml.next());
      if (event.kind == XmlReader::Kind::Finished) break;
      if (event.kind == XmlReader::Kind::Start) TRY(start(event));
      if (event.kind == XmlReader::Kind::Text) TRY(text(event));
    }
    if (m_layers.empty()) return wrong("contains no layers");
    TRY(connect());
    return inOrder();
  }

 private:
  struct Read {
    ExecutionLayer layer;
    std::vector<std::int64_t> inputIds, outputIds;
    std::vector<std::string> types, layouts;  ///< the types and layouts of its outputs: one for all, or one for each
  };
  struct Edge {
    std::int64_t from, fromPort, to, toPort;
  };

  static Diagnostic wrong(std::string message) { return {.message = std::move(message), .where = {}}; }

  /// Returns whether the current element, or the element with the current text, is `names` below the outermost element.
  bool isAt(std::initializer_list<std::string_view> names) const {
    const auto& path = m_xml.path();
    return path.size() == names.size() + 1 && path.front() == "net" &&
           std::equal(names.begin(), names.end(), path.begin() + 1);
  }

  static Result<std::int64_t> number(const XmlReader::Event& event, std::string_view key) {
    const auto read = numberIn(event.attribute(key));
    if (!read || *read < 0) return wrong(fmt::format("<{}> has no number for \"{}\"", event.name, key));
    return *read;
  }

  Status start(const XmlReader::Event& event) {
    if (m_xml.path().size() == 1 && event.name != "net") return wrong("is not a network of OpenVINO");
    if (isAt({"layers", "layer"})) return startLayer(event);
    if (isAt({"layers", "layer", "data"})) return readData(event);
    if (isAt({"layers", "layer", "input", "port"})) return startPort(event, last().inputIds, last().layer.inputs);
    if (isAt({"layers", "layer", "output", "port"})) return startPort(event, last().outputIds, last().layer.outputs);
    if (isAt({"edges", "edge"})) {
      m_edges.push_back({TRY(number(event, "from-layer")), TRY(number(event, "from-port")),
                         TRY(number(event, "to-layer")), TRY(number(event, "to-port"))});
    }
    return Done{};
  }

  Read& last() { return m_layers.back(); }

  Status startLayer(const XmlReader::Event& event) {
    const auto index = static_cast<std::uint32_t>(m_layers.size());
    if (!m_byId.try_emplace(TRY(number(event, "id")), index).second) return wrong("two layers have the same id");
    m_layers.emplace_back();
    last().layer.name = event.attribute("name");
    last().layer.type = event.attribute("type");
    return Done{};
  }

  Status readData(const XmlReader::Event& event) {
    ExecutionLayer& layer = last().layer;
    layer.order = TRY(number(event, "execOrder"));
    layer.originals = listed(event.attribute("originalLayersNames"));
    layer.primitive = event.attribute("primitiveType");
    last().types = listed(event.attribute("outputPrecisions"));
    last().layouts = listed(event.attribute("outputLayouts"));
    const auto us = numberIn(event.attribute("execTimeMcs"));
    if (us && *us >= 0) layer.ms = static_cast<double>(*us) / 1e3;
    return Done{};
  }

  Status startPort(const XmlReader::Event& event, std::vector<std::int64_t>& ids, std::vector<ExecutionPort>& ports) {
    ids.push_back(TRY(number(event, "id")));
    ports.push_back({.type = openvinoType(event.attribute("precision"))});
    m_port = &ports.back();
    return Done{};
  }

  Status text(const XmlReader::Event& event) {
    const bool isExtent =
        isAt({"layers", "layer", "input", "port", "dim"}) || isAt({"layers", "layer", "output", "port", "dim"});
    if (!isExtent) return Done{};
    const auto extent = numberIn(event.text);
    if (!extent || *extent < -1) return wrong(fmt::format("\"{}\" is not an extent", event.text));
    m_port->extents.push_back(*extent);
    return Done{};
  }

  Status connect() {
    for (Read& read : m_layers) {
      ExecutionLayer& layer = read.layer;
      layer.sources.resize(layer.inputs.size());
      for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
        const std::string* type = ofPort(read.types, i);
        if (type != nullptr) layer.outputs[i].type = openvinoType(*type);
        const std::string* layout = ofPort(read.layouts, i);
        if (layout != nullptr) layer.outputs[i].layout = *layout;
      }
    }
    for (const Edge& edge : m_edges) {
      const auto from = m_byId.find(edge.from), to = m_byId.find(edge.to);
      if (from == m_byId.end() || to == m_byId.end())
        return wrong("an edge leads to a layer that the file does not contain");
      const auto output = portOf(m_layers[from->second].outputIds, edge.fromPort);
      const auto input = portOf(m_layers[to->second].inputIds, edge.toPort);
      if (!output || !input) return wrong("an edge leads to a port that the layer does not have");
      m_layers[to->second].layer.sources[*input] = {.layer = from->second, .output = *output};
    }
    return Done{};
  }

  static const std::string* ofPort(const std::vector<std::string>& list, std::size_t port) {
    if (port < list.size()) return &list[port];
    return list.size() == 1 ? &list.front() : nullptr;
  }

  static std::optional<std::uint32_t> portOf(const std::vector<std::int64_t>& ids, std::int64_t id) {
    const auto found = std::ranges::find(ids, id);
    if (found == ids.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - ids.begin());
  }

  ExecutionGraph inOrder() {
    std::vector<std::uint32_t> order(m_layers.size()), place(m_layers.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return m_layers[i].layer.order; });
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    ExecutionGraph graph;
    for (const std::uint32_t index : order) {
      for (auto& source : m_layers[index].layer.sources)
        if (source.layer != ExecutionLayer::kNone) source.layer = place[source.layer];
      graph.layers.push_back(std::move(m_layers[index].layer));
    }
    return graph;
  }

  XmlReader m_xml;
  std::vector<Read> m_layers;
  std::unordered_map<std::int64_t, std::uint32_t> m_byId;
  std::vector<Edge> m_edges;
  ExecutionPort* m_port = nullptr;
};

}  // namespace

std::optional<std::int64_t> ExecutionPort::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  return product;
}

Result<ExecutionGraph> executionGraph(std::string_view xml) {
  return GraphReader(xml).run();
}

}  // namespace fusescope
