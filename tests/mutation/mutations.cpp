#include "tests/mutation/mutations.h"

#include <algorithm>
#include <functional>

#include "tests/mutation/wire.h"

namespace fusescope::mutation {
namespace {

// Field numbers of onnx.proto.
namespace model_field {
constexpr std::uint32_t kGraph = 7, kOpset = 8;
}
namespace graph_field {
constexpr std::uint32_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValue = 13;
}
namespace node_field {
constexpr std::uint32_t kInput = 1, kOutput = 2, kOp = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute_field {
constexpr std::uint32_t kName = 1, kFloat = 2, kInt = 3, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8, kType = 20;
}
namespace tensor_field {
constexpr std::uint32_t kDims = 1, kType = 2, kRaw = 9;
}
constexpr std::uint32_t kValueType = 2;                    // ValueInfoProto.type
constexpr std::uint32_t kTensorType = 1;                   // TypeProto.tensor_type
constexpr std::uint32_t kElementType = 1, kShape = 2;      // TypeProto.Tensor
constexpr std::uint32_t kDim = 1;                          // TensorShapeProto.dim
constexpr std::uint32_t kDimValue = 1, kDimParameter = 2;  // TensorShapeProto.Dimension
constexpr std::uint32_t kOpsetVersion = 2;                 // OperatorSetIdProto.version

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

std::uint64_t absurdFloatBits(Dice& dice) {
  static const std::vector<std::uint32_t> kBits{0,          0x80000000, 0x7f800000, 0xff800000,
                                                0x7fc00000, 0x00000001, 0x7f7fffff, 0xbf800000};
  return dice.of(kBits);
}

/// Applies `change` to a random field of this number, parsed as a message. False if there is none.
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
  std::swap(graph.fields[dice.of(places)], graph.fields[dice.of(places)]);
  return true;
}

bool rewire(WireMessage& graph, Dice& dice) {
  const auto names = valueNames(graph);
  return changeNested(graph, graph_field::kNode, dice, [&](WireMessage& node) {
    const auto slots = node.all(dice.oneIn(4) ? node_field::kOutput : node_field::kInput);
    if (slots.empty()) return false;
    node.fields[dice.of(slots)].bytes = dice.of(names);
    return true;
  });
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

struct GraphMutation {
  const char* name;
  bool (*apply)(WireMessage& graph, Dice& dice);
};

const std::vector<GraphMutation>& graphMutations() {
  static const std::vector<GraphMutation> kMutations{{"drop a node", dropNode},
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

/// The main graph, or now and then one that a node of it holds.
bool changeGraph(WireMessage& graph, Dice& dice, const GraphMutation& mutation) {
  if (!dice.oneIn(3)) return mutation.apply(graph, dice);
  std::vector<std::size_t> holders;
  for (const std::size_t at : graph.all(graph_field::kNode)) {
    const auto node = WireMessage::parse(graph.fields[at].bytes);
    if (!node) continue;
    for (const std::size_t slot : node->all(node_field::kAttribute)) {
      const auto attribute = WireMessage::parse(node->fields[slot].bytes);
      if (attribute && !attribute->all(attribute_field::kGraph).empty()) holders.push_back(at);
    }
  }
  if (holders.empty()) return mutation.apply(graph, dice);
  WireField& holder = graph.fields[dice.of(holders)];
  auto node = WireMessage::parse(holder.bytes);
  const bool changed = changeNested(*node, node_field::kAttribute, dice, [&](WireMessage& attribute) {
    return changeNested(attribute, attribute_field::kGraph, dice,
                        [&](WireMessage& body) { return mutation.apply(body, dice); });
  });
  if (changed) holder.bytes = node->serialised();
  return changed;
}

bool changeOpset(WireMessage& model, Dice& dice) {
  return changeNested(model, model_field::kOpset, dice, [&](WireMessage& opset) {
    const auto places = opset.all(kOpsetVersion);
    if (places.empty()) return false;
    opset.fields[places.front()].scalar = dice.oneIn(3) ? absurdNumber(dice) : 1 + dice.below(30);
    return true;
  });
}

std::string damageBytes(std::string bytes, Dice& dice, std::string& step) {
  if (bytes.empty()) return bytes;
  switch (dice.below(4)) {
    case 0:
      step = "cut the file";
      bytes.resize(dice.below(bytes.size()));
      break;
    case 1:
      step = "overwrite bytes";
      for (std::size_t i = 0, at = dice.below(bytes.size()), run = 1 + dice.below(64); i < run && at + i < bytes.size();
           ++i)
        bytes[at + i] = static_cast<char>(dice.bits());
      break;
    default:
      step = "flip bits";
      for (std::size_t i = 0, flips = 1 + dice.below(32); i < flips; ++i)
        bytes[dice.below(bytes.size())] ^= static_cast<char>(1U << dice.below(8));
  }
  return bytes;
}

/// Weights are most of a file: a copy without most of them lets flipped bits hit the structure.
void shrinkWeights(WireMessage& graph) {
  constexpr std::size_t kKept = 256;
  for (const std::size_t at : graph.all(graph_field::kInitializer)) {
    auto tensor = WireMessage::parse(graph.fields[at].bytes);
    if (!tensor) continue;
    std::erase_if(tensor->fields,
                  [](const WireField& f) { return f.number == tensor_field::kRaw && f.bytes.size() > kKept; });
    graph.fields[at].bytes = tensor->serialised();
  }
}

}  // namespace

Mutant mutated(std::string_view model, std::uint64_t seed) {
  Dice dice(seed);
  Mutant mutant{.bytes = std::string(model), .steps = {}};
  auto message = WireMessage::parse(model);
  const auto graphs = message ? message->all(model_field::kGraph) : std::vector<std::size_t>{};
  if (!graphs.empty()) {
    WireField& field = message->fields[graphs.front()];
    auto graph = WireMessage::parse(field.bytes);
    const bool flip = dice.oneIn(4);
    if (graph && flip) shrinkWeights(*graph);
    for (std::size_t i = 0, count = flip ? dice.below(2) : 1 + dice.below(4); graph && i < count; ++i) {
      const GraphMutation& mutation = dice.of(graphMutations());
      for (int attempt = 0; attempt < 8; ++attempt) {
        if (!changeGraph(*graph, dice, mutation)) continue;
        mutant.steps.emplace_back(mutation.name);
        break;
      }
    }
    if (graph) field.bytes = graph->serialised();
    if (dice.oneIn(12) && changeOpset(*message, dice)) mutant.steps.emplace_back("other opset");
    mutant.bytes = message->serialised();
    if (!flip) return mutant;
  }
  std::string step;
  mutant.bytes = damageBytes(std::move(mutant.bytes), dice, step);
  mutant.steps.push_back(step);
  return mutant;
}

}  // namespace fusescope::mutation
