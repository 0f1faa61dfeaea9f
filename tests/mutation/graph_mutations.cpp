#include "tests/mutation/graph_mutations.h"

#include <algorithm>
#include <string>

#include "tests/mutation/onnx_fields.h"

namespace fusescope::mutation {
namespace {

std::uint64_t absurdFloatBits(Dice& dice) {
  static const std::vector<std::uint32_t> kBits{0,          0x80000000, 0x7f800000, 0xff800000,
                                                0x7fc00000, 0x00000001, 0x7f7fffff, 0xbf800000};
  return dice.of(kBits);
}

/// Names of values a node could read.
std::vector<std::string> valueNames(const WireMessage& graph) {
  std::vector<std::string> names{"", "no_such_value"};
  for (const WireField& field : graph.fields) {
    const auto nested = WireMessage::parse(field.bytes);
    if (!nested) continue;
    if (field.number == graph_field::kNode)
      for (const std::size_t at : nested->all(node_field::kOutput)) names.push_back(nested->fields[at].bytes);
    if (field.number == graph_field::kInput) names.push_back(nested->text(1));
    if (field.number == graph_field::kInitializer) names.push_back(nested->text(8));
  }
  return names;
}

bool dropField(WireMessage& message, std::uint32_t number, Dice& dice) {
  const auto places = message.all(number);
  if (places.empty()) return false;
  message.fields.erase(message.fields.begin() + static_cast<std::ptrdiff_t>(dice.of(places)));
  return true;
}

bool duplicateField(WireMessage& message, std::uint32_t number, Dice& dice) {
  const auto places = message.all(number);
  if (places.empty()) return false;
  const WireField copy = message.fields[dice.of(places)];
  message.fields.insert(message.fields.begin() + static_cast<std::ptrdiff_t>(dice.of(places)), copy);
  return true;
}

bool dropNode(WireMessage& graph, Dice& dice) {
  return dropField(graph, graph_field::kNode, dice);
}

bool duplicateNode(WireMessage& graph, Dice& dice) {
  return duplicateField(graph, graph_field::kNode, dice);
}

bool swapNodes(WireMessage& graph, Dice& dice) {
  const auto places = graph.all(graph_field::kNode);
  if (places.size() < 2) return false;
  const std::size_t first = dice.of(places), second = dice.of(places);
  std::swap(graph.fields[first], graph.fields[second]);
  return true;
}

/// Any value, or none, or one that does not exist.
bool rewire(WireMessage& graph, Dice& dice) {
  const auto names = valueNames(graph);
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    const auto slots = node.all(dice.oneIn(4) ? node_field::kOutput : node_field::kInput);
    if (slots.empty()) return false;
    node.fields[dice.of(slots)].bytes = dice.of(names);
    return true;
  });
}

/// Another value for an input of a node, from those that stand before it: the graph stays one, its types may not fit.
bool rewireBackwards(WireMessage& graph, Dice& dice) {
  const auto nodes = graph.all(graph_field::kNode);
  if (nodes.empty()) return false;
  const std::size_t at = dice.of(nodes);
  WireMessage before = graph;
  before.fields.resize(at);
  for (std::size_t i = at; i < graph.fields.size(); ++i)
    if (graph.fields[i].number != graph_field::kNode) before.fields.push_back(graph.fields[i]);
  const auto names = valueNames(before);
  auto node = WireMessage::parse(graph.fields[at].bytes);
  const auto slots = node ? node->all(node_field::kInput) : std::vector<std::size_t>{};
  if (slots.empty()) return false;
  node->fields[dice.of(slots)].bytes = dice.of(names);
  graph.fields[at].bytes = node->serialised();
  return true;
}

/// What reads a node's first output reads its first input instead; the node is gone.
bool bypassNode(WireMessage& graph, Dice& dice) {
  const auto nodes = graph.all(graph_field::kNode);
  if (nodes.empty()) return false;
  const std::size_t at = dice.of(nodes);
  const auto gone = WireMessage::parse(graph.fields[at].bytes);
  if (!gone) return false;
  const std::string from = gone->text(node_field::kOutput), to = gone->text(node_field::kInput);
  graph.fields.erase(graph.fields.begin() + static_cast<std::ptrdiff_t>(at));
  for (const std::size_t place : graph.all(graph_field::kNode)) {
    auto node = WireMessage::parse(graph.fields[place].bytes);
    if (!node) continue;
    for (const std::size_t slot : node->all(node_field::kInput))
      if (node->fields[slot].bytes == from) node->fields[slot].bytes = to;
    graph.fields[place].bytes = node->serialised();
  }
  return true;
}

/// A copy of a node with outputs of its own, which become outputs of the network.
bool copyNode(WireMessage& graph, Dice& dice) {
  const auto nodes = graph.all(graph_field::kNode);
  if (nodes.empty()) return false;
  const std::size_t at = dice.of(nodes);
  auto node = WireMessage::parse(graph.fields[at].bytes);
  if (!node) return false;
  for (const std::size_t slot : node->all(node_field::kOutput)) {
    std::string& name = node->fields[slot].bytes;
    if (name.empty()) continue;
    name += "_copy";
    WireMessage output;
    output.fields.push_back(bytesField(1, name));
    graph.fields.push_back(bytesField(graph_field::kOutput, output.serialised()));
  }
  graph.fields.push_back(bytesField(graph_field::kNode, node->serialised()));
  return true;
}

bool changeSlots(WireMessage& graph, Dice& dice) {
  const auto names = valueNames(graph);
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    const std::uint32_t number = dice.oneIn(3) ? node_field::kOutput : node_field::kInput;
    if (dice.oneIn(2)) return dropField(node, number, dice);
    node.fields.push_back(bytesField(number, dice.of(names)));
    return true;
  });
}

bool readOwnOutput(WireMessage& graph, Dice& dice) {
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    const auto inputs = node.all(node_field::kInput);
    if (inputs.empty()) return false;
    node.fields[dice.of(inputs)].bytes = node.text(node_field::kOutput);
    return true;
  });
}

bool retype(WireMessage& graph, Dice& dice) {
  const std::uint64_t type = dice.oneIn(6) ? absurdNumber(dice) : dice.below(28);
  static const std::vector<std::uint32_t> kPlaces{graph_field::kInitializer, graph_field::kInput, graph_field::kOutput,
                                                  graph_field::kValue};
  const std::uint32_t place = dice.of(kPlaces);
  const auto setFirst = [&](WireMessage& message, std::uint32_t number) {
    const auto places = message.all(number);
    if (places.empty()) return false;
    message.fields[places.front()].scalar = type;
    return true;
  };
  return changeNested(graph, place, dice, [&](WireMessage& value) {
    if (place == graph_field::kInitializer) return setFirst(value, tensor_field::kType);
    return changeNested(value, kValueType, dice, [&](WireMessage& declared) {
      return changeNested(declared, kTensorType, dice,
                          [&](WireMessage& tensor) { return setFirst(tensor, kElementType); });
    });
  });
}

/// dims of a TensorProto, packed or not.
bool absurdTensorDims(WireMessage& tensor, Dice& dice) {
  const auto places = tensor.all(tensor_field::kDims);
  if (places.empty() || dice.oneIn(4)) {
    tensor.fields.push_back(varintField(tensor_field::kDims, absurdNumber(dice)));
    return true;
  }
  WireField& field = tensor.fields[dice.of(places)];
  field = varintField(tensor_field::kDims, absurdNumber(dice));
  return true;
}

bool absurdShape(WireMessage& graph, Dice& dice) {
  static const std::vector<std::uint32_t> kPlaces{graph_field::kInput, graph_field::kInput, graph_field::kOutput,
                                                  graph_field::kValue, graph_field::kInitializer};
  const std::uint32_t place = dice.of(kPlaces);
  if (place == graph_field::kInitializer)
    return changeNested(graph, place, dice, [&](WireMessage& tensor) { return absurdTensorDims(tensor, dice); });
  const auto changeDim = [&](WireMessage& dim) {
    dim.fields.clear();
    if (dice.oneIn(4))
      dim.fields.push_back(bytesField(kDimParameter, "N"));
    else if (!dice.oneIn(4))
      dim.fields.push_back(varintField(kDimValue, absurdNumber(dice)));
    return true;
  };
  const auto changeShape = [&](WireMessage& shape) {
    if (dice.oneIn(4)) return dropField(shape, kDim, dice);
    if (dice.oneIn(4)) return duplicateField(shape, kDim, dice);
    return changeNested(shape, kDim, dice, changeDim);
  };
  const auto changeTensor = [&](WireMessage& tensor) {
    if (dice.oneIn(8)) return dropField(tensor, kShape, dice);
    return changeNested(tensor, kShape, dice, changeShape);
  };
  return changeNested(graph, place, dice, [&](WireMessage& value) {
    return changeNested(value, kValueType, dice,
                        [&](WireMessage& type) { return changeNested(type, kTensorType, dice, changeTensor); });
  });
}

bool absurdAttributeValue(WireMessage& attribute, Dice& dice) {
  using namespace attribute_field;
  WireField& field = attribute.fields[dice.below(attribute.fields.size())];
  switch (field.number) {
    case kInt:
      field.scalar = absurdNumber(dice);
      return true;
    case kFloat:
      field.scalar = absurdFloatBits(dice);
      return true;
    case kInts:
      if (dice.oneIn(4)) return dropField(attribute, kInts, dice);
      field = varintField(kInts, absurdNumber(dice));
      return true;
    case kFloats:
      return dice.oneIn(2) ? dropField(attribute, kFloats, dice) : duplicateField(attribute, kFloats, dice);
    case kType:
      field.scalar = dice.below(16);
      return true;
    case kTensor:
      return changeNested(attribute, kTensor, dice, [&](WireMessage& t) { return absurdTensorDims(t, dice); });
    case kName:
      field.bytes = dice.oneIn(2) ? "axis" : "no_such_attribute";
      return true;
    default:
      return false;
  }
}

bool absurdAttribute(WireMessage& graph, Dice& dice) {
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    if (dice.oneIn(8)) return dropField(node, node_field::kAttribute, dice);
    if (dice.oneIn(12)) return duplicateField(node, node_field::kAttribute, dice);
    return changeNested(node, node_field::kAttribute, dice, [&](WireMessage& attribute) {
      return !attribute.fields.empty() && absurdAttributeValue(attribute, dice);
    });
  });
}

bool otherOperator(WireMessage& graph, Dice& dice) {
  static const std::vector<std::string> kOperators{
      "Add",      "Conv",          "MatMul",    "Reshape", "Transpose", "Concat",  "Split",
      "Slice",    "Gather",        "Resize",    "Pad",     "Softmax",   "Gemm",    "ReduceMean",
      "TopK",     "NonZero",       "Loop",      "If",      "Scan",      "Einsum",  "Expand",
      "Cast",     "Squeeze",       "Unsqueeze", "Shape",   "Constant",  "Flatten", "AveragePool",
      "LSTM",     "Tile",          "Where",     "OneHot",  "Range",     "CumSum",  "DequantizeLinear",
      "Identity", "NoSuchOperator"};
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    const auto places = node.all(node_field::kOp);
    if (places.empty()) return false;
    node.fields[places.front()].bytes = dice.of(kOperators);
    if (dice.oneIn(10)) node.fields.push_back(bytesField(node_field::kDomain, "com.example"));
    return true;
  });
}

bool changeInterface(WireMessage& graph, Dice& dice) {
  const std::uint32_t number = dice.oneIn(2) ? graph_field::kInput : graph_field::kOutput;
  if (dice.oneIn(2)) return dropField(graph, number, dice);
  if (dice.oneIn(2)) return duplicateField(graph, number, dice);
  const auto names = valueNames(graph);
  return changeNested(graph, number, dice, [&](WireMessage& value) {
    const auto places = value.all(1);
    if (places.empty()) return false;
    value.fields[places.front()].bytes = dice.of(names);
    return true;
  });
}

bool changeWeights(WireMessage& graph, Dice& dice) {
  if (dice.oneIn(3)) return dropField(graph, graph_field::kInitializer, dice);
  if (dice.oneIn(3)) return duplicateField(graph, graph_field::kInitializer, dice);
  return changeNested(graph, graph_field::kInitializer, dice, [&](WireMessage& tensor) {
    const auto raw = tensor.all(tensor_field::kRaw);
    if (raw.empty()) return false;
    std::string& bytes = tensor.fields[raw.front()].bytes;
    if (dice.oneIn(2)) {
      bytes.resize(dice.below(bytes.size() + 8));
    } else {
      for (int i = 0; i < 16 && !bytes.empty(); ++i) bytes[dice.below(bytes.size())] = static_cast<char>(dice.bits());
    }
    return true;
  });
}

}  // namespace

std::uint64_t absurdNumber(Dice& dice) {
  static const std::vector<std::int64_t> kNumbers{0,
                                                  1,
                                                  -1,
                                                  2,
                                                  3,
                                                  7,
                                                  -2,
                                                  -7,
                                                  64,
                                                  255,
                                                  65536,
                                                  1 << 20,
                                                  2147483647,
                                                  -2147483648LL,
                                                  4294967296LL,
                                                  1LL << 40,
                                                  1LL << 56,
                                                  1LL << 61,
                                                  1LL << 62,
                                                  9223372036854775807LL,
                                                  -9223372036854775807LL - 1};
  return static_cast<std::uint64_t>(dice.of(kNumbers));
}

bool changeNested(WireMessage& message, std::uint32_t number, Dice& dice,
                  const std::function<bool(WireMessage&)>& change) {
  const auto places = message.all(number);
  if (places.empty()) return false;
  WireField& field = message.fields[dice.of(places)];
  auto nested = WireMessage::parse(field.bytes);
  if (!nested || !change(*nested)) return false;
  field.bytes = nested->serialised();
  return true;
}

const std::vector<GraphMutation>& graphMutations() {
  static const std::vector<GraphMutation> kMutations{{"rewire backwards", rewireBackwards},
                                                     {"rewire backwards", rewireBackwards},
                                                     {"bypass a node", bypassNode},
                                                     {"copy a node", copyNode},
                                                     {"drop a node", dropNode},
                                                     {"duplicate a node", duplicateNode},
                                                     {"swap two nodes", swapNodes},
                                                     {"rewire an edge", rewire},
                                                     {"change slots", changeSlots},
                                                     {"read own output", readOwnOutput},
                                                     {"retype a value", retype},
                                                     {"absurd shape", absurdShape},
                                                     {"absurd attribute", absurdAttribute},
                                                     {"absurd attribute", absurdAttribute},
                                                     {"other operator", otherOperator},
                                                     {"change inputs or outputs", changeInterface},
                                                     {"change weights", changeWeights}};
  return kMutations;
}

}  // namespace fusescope::mutation
