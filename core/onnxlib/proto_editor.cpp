#include "onnxlib/proto_editor.h"

#include <algorithm>
#include <utility>

#include "onnxlib/proto_reader.h"
#include "onnxlib/proto_writer.h"
#include "onnxlib/wire_strip.h"

namespace fusescope::onnxlib {
namespace {

using Names = std::set<std::string, std::less<>>;

void addNamesRead(const onnx::NodeProto& node, Names& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) names.merge(namesRead(attribute.g()));
    for (const auto& graph : attribute.graphs()) names.merge(namesRead(graph));
  }
}

void setElementType(onnx::TypeProto& type, DataType element) {
  if (type.has_sequence_type()) return setElementType(*type.mutable_sequence_type()->mutable_elem_type(), element);
  if (type.has_optional_type()) return setElementType(*type.mutable_optional_type()->mutable_elem_type(), element);
  type.mutable_tensor_type()->set_elem_type(onnxTypeOf(element));
}

void retype(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values, const std::string& name, DataType type) {
  for (auto& value : values)
    if (value.name() == name && value.has_type()) setElementType(*value.mutable_type(), type);
}

void setSlot(google::protobuf::RepeatedPtrField<std::string>& slots, std::size_t slot, const std::string& value) {
  while (static_cast<std::size_t>(slots.size()) <= slot) slots.Add();
  *slots.Mutable(static_cast<int>(slot)) = value;
}

Diagnostic noSuchNode(const NodePlace& place) {
  return {.message = "an edit names node " + std::to_string(place.node) + " of a graph that has fewer nodes"};
}

}  // namespace

Names namesRead(const onnx::GraphProto& graph) {
  Names names;
  for (const auto& node : graph.node()) addNamesRead(node, names);
  for (const auto& output : graph.output()) names.insert(output.name());
  return names;
}

namespace {

/// Removes Constants and Casts; returns whether there were any.
bool dropUnreadNodes(onnx::GraphProto& graph, const auto& wasRead, const Names& read) {
  const int before = graph.node_size();
  removeWhere(*graph.mutable_node(), [&](const onnx::NodeProto& node) {
    const bool simple = node.op_type() == "Constant" || node.op_type() == "Cast";
    return simple && canonicalDomain(node.domain()).empty() &&
           std::ranges::all_of(node.output(), [&](const auto& name) { return wasRead(name) && !read.contains(name); });
  });
  return graph.node_size() < before;
}

}  // namespace

void dropUnread(onnx::GraphProto& graph, const Names& readBefore) {
  const auto wasRead = [&](const std::string& name) { return readBefore.contains(name); };
  Names read = namesRead(graph);
  while (dropUnreadNodes(graph, wasRead, read)) read = namesRead(graph);
  Names dropped;
  for (const std::string& name : readBefore)
    if (!read.contains(name)) dropped.insert(name);
  const auto isInitializer = [&](const std::string& name) {
    return std::ranges::any_of(graph.initializer(), [&](const auto& tensor) { return tensor.name() == name; });
  };
  // Older files list initializers among the inputs too.
  removeWhere(*graph.mutable_input(),
              [&](const auto& value) { return dropped.contains(value.name()) && isInitializer(value.name()); });
  removeWhere(*graph.mutable_initializer(), [&](const auto& tensor) { return dropped.contains(tensor.name()); });
  removeWhere(*graph.mutable_value_info(), [&](const auto& value) { return dropped.contains(value.name()); });
}

Result<onnx::GraphProto*> ProtoEditor::graphAt(const GraphPath& path) {
  onnx::GraphProto* graph = m_model.mutable_graph();
  for (const BodyStep& step : path) {
    if (step.node >= static_cast<std::size_t>(graph->node_size())) return noSuchNode({path, step.node});
    auto& attributes = *graph->mutable_node(static_cast<int>(step.node))->mutable_attribute();
    const auto body = std::ranges::find_if(attributes, [&](const onnx::AttributeProto& attribute) {
      return attribute.name() == step.attribute && attribute.has_g();
    });
    if (body == attributes.end())
      return Diagnostic{.message = "an edit names a body that does not exist", .where = {.attribute = step.attribute}};
    graph = body->mutable_g();
  }
  return graph;
}

Result<onnx::NodeProto*> ProtoEditor::nodeAt(const NodePlace& place) {
  onnx::GraphProto* graph = TRY(graphAt(place.graph));
  if (place.node >= static_cast<std::size_t>(graph->node_size())) return noSuchNode(place);
  return graph->mutable_node(static_cast<int>(place.node));
}

Status ProtoEditor::apply(const NetworkEdits& edits) {
  for (const auto& [place, slot, value] : edits.operands) setSlot(*TRY(nodeAt(place))->mutable_input(), slot, value);
  for (const auto& [place, slot, value] : edits.outcomes) setSlot(*TRY(nodeAt(place))->mutable_output(), slot, value);
  for (const auto& [place, attribute] : edits.attributes) {
    auto& attributes = *TRY(nodeAt(place))->mutable_attribute();
    const auto& name = attribute.name;
    const auto known = std::ranges::find_if(attributes, [&](const auto& held) { return held.name() == name; });
    onnx::AttributeProto& held = known == attributes.end() ? *attributes.Add() : *known;
    held.Clear();
    setAttribute(held, attribute);
  }
  for (const auto& gone : edits.removedAttributes)
    removeWhere(*TRY(nodeAt(gone.node))->mutable_attribute(),
                [&](const auto& attribute) { return attribute.name() == gone.name; });
  TRY(addInitializers(edits.initializers));
  for (const NetworkEdits::NewType& type : edits.types) TRY(setType(type));
  for (const auto& [node, name] : edits.names) TRY(nodeAt({{}, node}))->set_name(name);
  TRY(placeNodes(edits));  // last, because positions are those of the file
  setMetadata(edits);
  raiseOpset(edits.opset);
  if (edits.borders) setBorders(*edits.borders);
  return Done{};
}

Status ProtoEditor::placeNodes(const NetworkEdits& edits) {
  struct Changes {
    std::vector<const FileNode*> added;
    std::set<int> gone;
  };
  std::map<GraphPath, Changes> changes;
  for (const auto& [graph, node] : edits.nodes) changes[graph].added.push_back(&node);
  for (const auto& [graph, node] : edits.removedNodes) changes[graph].gone.insert(static_cast<int>(node));
  // Inner graphs come first, because the path to a graph consists of positions in the graphs around it.
  for (auto entry = changes.rbegin(); entry != changes.rend(); ++entry) {
    onnx::GraphProto* graph = TRY(graphAt(entry->first));
    const std::set<int>& gone = entry->second.gone;
    std::map<std::string, int, std::less<>> madeAt;
    for (int i = 0; i < graph->node_size(); ++i)
      for (const std::string& output : graph->node(i).output())
        if (!output.empty() && !gone.contains(i)) madeAt.emplace(output, i);
    std::map<int, std::vector<onnx::NodeProto>> behind;  // by position of the node before them; -1: before the first
    for (const FileNode* node : entry->second.added) {
      onnx::NodeProto made = nodeProto(*node);
      Names read;
      addNamesRead(made, read);
      int place = -1;
      for (const std::string& name : read)
        if (const auto found = madeAt.find(name); found != madeAt.end()) place = std::max(place, found->second);
      for (const std::string& output : node->outputs) madeAt[output] = place;
      behind[place].push_back(std::move(made));
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph->mutable_node());
    for (int i = -1; i < nodes.size(); ++i) {
      if (i >= 0 && !gone.contains(i)) graph->add_node()->Swap(&nodes[i]);
      for (onnx::NodeProto& node : behind[i]) graph->add_node()->Swap(&node);
    }
  }
  return Done{};
}

onnx::TensorProto ProtoEditor::held(const FileTensor& tensor) {
  onnx::TensorProto made;
  std::size_t elements = 1;
  for (const std::int64_t extent : tensor.dims) elements *= static_cast<std::size_t>(extent);
  const std::size_t bytes = byteSize(tensor.dtype, static_cast<std::int64_t>(elements));
  if (tensor.data != nullptr && bytes >= kMappedFrom) {
    FileTensor bare = tensor;
    bare.data = nullptr;
    made = tensorProto(bare);
    made.set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = made.add_external_data();
    entry->set_key(kPayloadKey);
    entry->set_value(std::to_string(m_payloads.size()));
    m_payloads.emplace_back(tensor.data, bytes);
  } else {
    made = tensorProto(tensor);
  }
  return made;
}

Status ProtoEditor::addInitializers(const std::vector<NetworkEdits::NewInitializer>& added) {
  struct Known {
    std::map<std::string, int, std::less<>> places;  ///< of initializers, by name
    Names declared;                                  ///< values that the graph declares
  };
  std::map<GraphPath, Known> graphs;
  for (const auto& [path, tensor] : added) {
    onnx::GraphProto* graph = TRY(graphAt(path));
    const auto [known, isNew] = graphs.try_emplace(path);
    auto& [places, declared] = known->second;
    if (isNew) {
      for (int i = 0; i < graph->initializer_size(); ++i) places.emplace(graph->initializer(i).name(), i);
      for (const auto* values : {&graph->input(), &graph->output(), &graph->value_info()})
        for (const auto& value : *values) declared.insert(value.name());
    }
    const auto [place, isAdded] = places.try_emplace(tensor.name, graph->initializer_size());
    onnx::TensorProto made = held(tensor);
    (isAdded ? graph->add_initializer() : graph->mutable_initializer(place->second))->Swap(&made);
    if (declared.contains(tensor.name)) TRY(setType({path, tensor.name, tensor.dtype}));
  }
  // Before that version of the format, each initializer was also an input.
  constexpr std::int64_t kFirstApart = 4;
  if (!added.empty()) m_model.set_ir_version(std::max<std::int64_t>(m_model.ir_version(), kFirstApart));
  return Done{};
}

Status ProtoEditor::setType(const NetworkEdits::NewType& type) {
  onnx::GraphProto* graph = TRY(graphAt(type.graph));
  retype(*graph->mutable_input(), type.value, type.type);
  retype(*graph->mutable_output(), type.value, type.type);
  retype(*graph->mutable_value_info(), type.value, type.type);
  return Done{};
}

void ProtoEditor::setMetadata(const NetworkEdits& edits) {
  removeWhere(*m_model.mutable_metadata_props(), [&](const auto& entry) {
    return std::ranges::find(edits.removedMetadata, entry.key()) != edits.removedMetadata.end();
  });
  const auto set = [](auto& entries, const std::map<std::string, std::string>& metadata) {
    for (const auto& [key, value] : metadata) {
      const auto known = std::ranges::find_if(entries, [&key = key](const auto& entry) { return entry.key() == key; });
      auto& entry = known == entries.end() ? *entries.Add() : *known;
      entry.set_key(key);
      entry.set_value(value);
    }
  };
  set(*m_model.mutable_metadata_props(), edits.metadata);
  set(*m_model.mutable_graph()->mutable_metadata_props(), edits.graphMetadata);
}

void ProtoEditor::raiseOpset(std::int64_t opset) {
  for (auto& import : *m_model.mutable_opset_import()) {
    if (!canonicalDomain(import.domain()).empty() || import.version() >= opset) continue;
    import.set_version(opset);
    m_model.set_ir_version(std::max<std::int64_t>(m_model.ir_version(), irVersionFor(opset)));
  }
}

}  // namespace fusescope::onnxlib
