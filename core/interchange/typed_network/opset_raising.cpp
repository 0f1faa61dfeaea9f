#include "interchange/typed_network/opset_raising.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "frontends/onnx/adapters.h"
#include "frontends/onnx/file_tensors.h"
#include "interchange/typed_network/names_of_file.h"
#include "onnxlib/operator_types.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;
using onnxlib::NetworkEdits;
using onnxlib::NodePlace;

/// Of one graph; what a body reads of the graphs around it is found there.
class GraphRaiser final : public AdaptContext {
 public:
  struct Raise {
    const onnxlib::FileModel& file;
    std::int64_t from, to;
    const OpsetNeed& need;
    RaisedFile& made;
    std::set<std::string> names;
  };

  GraphRaiser(Raise& raise, FileGraph& graph, onnxlib::GraphPath path, const GraphRaiser* outer)
      : m_raise(raise), m_graph(graph), m_path(std::move(path)), m_outer(outer) {
    for (const auto* values : {&graph.inputs, &graph.values, &graph.outputs})
      for (const auto& value : *values)
        if (value.type.dtype != DataType::Undefined) m_types.emplace(value.name, value.type);
    for (const auto& tensor : graph.initializers) m_constants.emplace(tensor.name, tensor);
    for (const FileNode& node : graph.nodes) {
      if (node.op != "Constant" || !node.domain.empty() || node.outputs.empty()) continue;
      const auto* held = node.attribute("value");
      const auto* tensor = held == nullptr ? nullptr : std::get_if<onnxlib::FileTensor>(&held->value);
      if (tensor != nullptr) m_constants.emplace(node.outputs[0], *tensor);
    }
  }

  Status run() {
    const std::size_t count = m_graph.nodes.size();  // new ones come behind them
    for (std::size_t i = 0; i < count; ++i) {
      TRY(raise({m_path, i}));
      for (auto& attribute : m_graph.nodes[i].attributes) {
        auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value);
        if (body == nullptr) continue;
        const auto raised = std::make_shared<FileGraph>(**body);
        onnxlib::GraphPath path = m_path;
        path.push_back({i, attribute.name});
        TRY(GraphRaiser(m_raise, *raised, std::move(path), this).run());
        *body = raised;
      }
    }
    return Done{};
  }

 private:
  Status raise(const NodePlace& place) {
    FileNode& node = m_graph.nodes[place.node];
    if (!needsRaising(node, m_raise.from, m_raise.to)) {
      const std::string why = onnxlib::obstacleToRaising(node, m_raise.from, m_raise.to);
      return why.empty() ? Status(Done{}) : Status(cannot(node, why));
    }
    auto made = raiseNode(node, m_raise.from, m_raise.to, *this);
    if (!made.ok()) return cannot(node, "cannot be written in that opset: " + made.error().message);
    const bool isOne =
        made.value().size() == 1 && made.value().front().op == node.op && made.value().front().outputs == node.outputs;
    if (!isOne) return writeAnew(place, std::move(made).value());
    addEdits(place, node, made.value().front());
    node = std::move(made.value().front());
    return Done{};
  }

  /// The node that keeps the name takes the place, so that the plan's types are its.
  Status writeAnew(const NodePlace& place, std::vector<FileNode> made) {
    const FileNode before = m_graph.nodes[place.node];
    const bool hasBody = std::ranges::any_of(before.attributes, [](const onnxlib::FileAttribute& attribute) {
      return std::holds_alternative<std::shared_ptr<const FileGraph>>(attribute.value);
    });
    if (hasBody) return cannot(before, "consists of several nodes in that opset");
    auto own = std::ranges::find(made, before.name, &FileNode::name);
    if (own == made.end()) own = made.begin();
    const auto* read = before.inputs.empty() ? nullptr : type(before.inputs[0]);
    const std::optional<onnxlib::FileType> moved = read == nullptr ? std::nullopt : std::optional(*read);
    for (auto each = made.begin(); each != made.end(); ++each) {
      if (!fits(*each, moved)) return cannot(before, "cannot be written in that opset, because its input may be empty");
      declareNew(*each, before, moved);
      const std::size_t at = each == own ? place.node : m_graph.nodes.size();
      m_raise.made.rewritten[{m_path, at}] = each == own;
      if (each == own)
        m_graph.nodes[at] = std::move(*each);
      else
        m_graph.nodes.push_back(std::move(*each));
    }
    return Done{};
  }

  /// Nodes are made as the newest opset has them. Reshapes say there what a zero means, which older ones cannot: where
  /// there is none, it is no matter. A Resize may leave its second operand out there, which older ones may not.
  bool fits(FileNode& node, const std::optional<onnxlib::FileType>& read) {
    constexpr std::int64_t kFirstWithoutRegion = 13;
    if (node.op == "Resize" && m_raise.to < kFirstWithoutRegion && node.inputs.size() > 1 && node.inputs[1].empty())
      node.inputs[1] = addTensor("roi", fileTensor({}, Tensor::zeros(DataType::F32, {0})));
    constexpr std::int64_t kFirstWithZeros = 14;
    const bool saysZeros = node.op == "Reshape" && node.attribute("allowzero") != nullptr;
    if (!saysZeros || m_raise.to >= kFirstWithZeros) return true;
    std::erase_if(node.attributes, [](const onnxlib::FileAttribute& each) { return each.name == "allowzero"; });
    return read && read->ranked && std::ranges::all_of(read->dims, [](const auto& dim) { return dim.size > 0; });
  }

  /// What stands between the new nodes has the type of what the old one read, but for extents.
  void declareNew(const FileNode& node, const FileNode& before, const std::optional<onnxlib::FileType>& read) {
    for (const std::string& output : node.outputs) {
      if (output.empty() || std::ranges::count(before.outputs, output) > 0) continue;
      const bool isExtents = node.op == "Shape";
      if (!isExtents && !read) continue;
      m_graph.values.push_back({.name = output, .type = {.dtype = isExtents ? DataType::I64 : read->dtype}});
      m_types.emplace(output, m_graph.values.back().type);
    }
  }

  void addEdits(const NodePlace& place, const FileNode& before, const FileNode& after) {
    for (std::size_t slot = 0; slot < std::max(before.inputs.size(), after.inputs.size()); ++slot) {
      const std::string now = slot < after.inputs.size() ? after.inputs[slot] : std::string();
      if (slot >= before.inputs.size() || before.inputs[slot] != now)
        m_raise.made.edits.operands.push_back({place, slot, now});
    }
    for (const auto& attribute : before.attributes)
      if (after.attribute(attribute.name) == nullptr)
        m_raise.made.edits.removedAttributes.push_back({place, attribute.name});
    // Bodies, which cannot be told apart, stay as they are.
    for (const auto& attribute : after.attributes)
      if (!std::holds_alternative<std::shared_ptr<const FileGraph>>(attribute.value))
        m_raise.made.edits.attributes.push_back({place, attribute});
  }

  Diagnostic cannot(const FileNode& node, const std::string& why) const {
    return {.message = fmt::format("{} needs opset {}, but the file has opset {}, and its {} {}", m_raise.need.what,
                                   m_raise.to, m_raise.from, node.op, why),
            .where = {.node = node.displayName()},
            .help = fmt::format("Convert the file to opset {} first, with onnx.version_converter or by exporting it "
                                "again, or {}.",
                                m_raise.to, m_raise.need.otherwise)};
  }

  const onnxlib::FileType* type(const std::string& value) const override {
    if (const auto known = m_types.find(value); known != m_types.end()) return &known->second;
    if (m_outer != nullptr) return m_outer->type(value);
    return m_raise.file.inferred.find(value);
  }

  const onnxlib::FileTensor* constant(const std::string& value) const override {
    if (const auto known = m_constants.find(value); known != m_constants.end()) return &known->second;
    return m_outer == nullptr ? nullptr : m_outer->constant(value);
  }

  std::string freshValue(const std::string& wanted) override { return freshName(wanted, m_raise.names); }

  std::string addConstant(const std::string& wanted, std::vector<std::int64_t> values) override {
    return addTensor(wanted, fileTensor({}, Tensor::ofInt64(std::move(values))));
  }

  std::string addTensor(const std::string& wanted, onnxlib::FileTensor tensor) override {
    tensor.name = freshValue(wanted);
    m_graph.initializers.push_back(tensor);
    m_constants.emplace(tensor.name, tensor);
    m_raise.made.edits.initializers.push_back({m_path, tensor});
    return tensor.name;
  }

  Raise& m_raise;
  FileGraph& m_graph;
  const onnxlib::GraphPath m_path;
  const GraphRaiser* m_outer;
  std::unordered_map<std::string, onnxlib::FileType> m_types;        ///< that the graph declares
  std::unordered_map<std::string, onnxlib::FileTensor> m_constants;  ///< initializers and what Constants hold
};

}  // namespace

OpsetNeed needOfTypes(const std::string& node) {
  return {.what = fmt::format("the plan's type of node '{}'", node), .otherwise = fmt::format("pin '{}' to f32", node)};
}

Result<RaisedFile> raisedTo(std::int64_t to, const onnxlib::FileModel& file, const OpsetNeed& need) {
  RaisedFile raised{.file = file, .edits = {}};
  std::int64_t& opset = raised.file.opsets[""];
  GraphRaiser::Raise raise{file, opset, to, need, raised, {}};
  collectNames(file.graph, raise.names);
  TRY(GraphRaiser(raise, raised.file.graph, {}, nullptr).run());
  opset = to;
  return raised;
}

}  // namespace fusescope
