#include <algorithm>
#include <array>
#include <variant>

#include "compilers/onnxruntime/tensor_bindings.h"
#include "onnxlib/operator_types.h"

namespace fusescope::onnxruntime {
namespace {

using onnxlib::FileNode;

/// An operator without a schema here, and the operand that has the type of its first result.
struct ResultLike {
  std::string_view op;
  std::size_t operand;
};

/// The operators of ONNX Runtime's own domain for which this is certain.
constexpr std::array kResults{ResultLike{"FusedConv", 0},
                              ResultLike{"NhwcFusedConv", 0},
                              ResultLike{"FusedMatMul", 0},
                              ResultLike{"TransposeMatMul", 0},
                              ResultLike{"FusedGemm", 0},
                              ResultLike{"MatMulNBits", 0},
                              ResultLike{"Gelu", 0},
                              ResultLike{"FastGelu", 0},
                              ResultLike{"BiasGelu", 0},
                              ResultLike{"QuickGelu", 0},
                              ResultLike{"BiasSoftmax", 0},
                              ResultLike{"LayerNormalization", 1},
                              ResultLike{"SimplifiedLayerNormalization", 1},
                              ResultLike{"SkipLayerNormalization", 0},
                              ResultLike{"SkipSimplifiedLayerNormalization", 0},
                              ResultLike{"EmbedLayerNormalization", 2},
                              ResultLike{"Attention", 0},
                              ResultLike{"MultiHeadAttention", 0},
                              ResultLike{"GroupQueryAttention", 0},
                              ResultLike{"RotaryEmbedding", 0},
                              ResultLike{"NhwcMaxPool", 0},
                              ResultLike{"ReorderInput", 0},
                              ResultLike{"ReorderOutput", 0},
                              ResultLike{"Conv", 0},
                              ResultLike{"MaxPool", 0},
                              ResultLike{"AveragePool", 0},
                              ResultLike{"GlobalMaxPool", 0},
                              ResultLike{"GlobalAveragePool", 0},
                              ResultLike{"Upsample", 0},
                              ResultLike{"MatMulIntegerToFloat", 2},
                              ResultLike{"DynamicQuantizeMatMul", 2},
                              ResultLike{"DequantizeLinear", 1},
                              ResultLike{"QLinearConv", 7},
                              ResultLike{"QLinearAdd", 0},
                              ResultLike{"QLinearMul", 0},
                              ResultLike{"QLinearSigmoid", 0},
                              ResultLike{"QLinearLeakyRelu", 0},
                              ResultLike{"QLinearSoftmax", 0},
                              ResultLike{"QLinearAveragePool", 0},
                              ResultLike{"QLinearGlobalAveragePool", 0},
                              ResultLike{"QLinearReduceMean", 0},
                              ResultLike{"QLinearConcat", 1},
                              ResultLike{"QLinearWhere", 1}};

/// Operators whose results have types of their own, although the schema gives them one type parameter.
bool isHeterogeneous(const FileNode& node) {
  constexpr std::array<std::string_view, 4> ops{"If", "Loop", "Scan", "SequenceMap"};
  return std::ranges::find(ops, node.op) != ops.end();
}

class TypeInference {
 public:
  TypeInference(Optimised& optimised, const onnxlib::Opsets& opsets) : m_optimised(optimised), m_opsets(opsets) {}

  void run() {
    for (const std::uint32_t index : m_optimised.graph.order()) {
      const TensorGraph::Node& node = m_optimised.graph.node(index);
      for (std::size_t i = 0; i < node.makes.size(); ++i) {
        if (node.makes[i] == kNone) continue;
        DataType& known = m_optimised.types[node.makes[i]].type;
        if (known == DataType::Undefined) known = resultType(node, i);
      }
    }
  }

 private:
  DataType operandType(const TensorGraph::Node& node, std::size_t i) const {
    const bool isThere = i < node.file->inputs.size() && i < node.reads.size() && node.reads[i] != kNone;
    return isThere ? m_optimised.types[node.reads[i]].type : DataType::Undefined;
  }

  DataType resultType(const TensorGraph::Node& node, std::size_t result) const {
    const FileNode& file = *node.file;
    if (isHeterogeneous(file)) return DataType::Undefined;
    if (file.domain.empty() || file.op == "QuantizeLinear")
      if (const DataType type = typeOfAttributes(node); type != DataType::Undefined) return type;
    const auto opset = m_opsets.find(file.domain);
    const auto types =
        onnxlib::operatorTypes(file.domain, file.op, opset == m_opsets.end() ? onnxlib::newestOpset() : opset->second);
    if (types) return typeBySchema(node, result, *types);
    return result == 0 ? typeByTable(node) : DataType::Undefined;
  }

  /// Returns the type that an attribute names, or the type of a constant that an attribute contains.
  DataType typeOfAttributes(const TensorGraph::Node& node) const {
    const FileNode& file = *node.file;
    if (file.op == "Cast") return typeNumbered(file, "to");
    if (file.op == "Constant" || file.op == "ConstantOfShape") {
      const auto* value = file.attribute("value");
      if (const auto* tensor = value == nullptr ? nullptr : std::get_if<onnxlib::FileTensor>(&value->value))
        return tensor->dtype;
      return file.op == "ConstantOfShape" ? DataType::F32 : DataType::Undefined;
    }
    if (file.op != "QuantizeLinear" && file.op != "DequantizeLinear") return DataType::Undefined;
    if (const DataType type = typeNumbered(file, "output_dtype"); type != DataType::Undefined) return type;
    if (file.op == "DequantizeLinear") return operandType(node, 1);
    const bool hasZero = file.inputs.size() > 2 && !file.inputs[2].empty();
    return hasZero ? operandType(node, 2) : DataType::U8;
  }

  static DataType typeNumbered(const FileNode& file, std::string_view attribute) {
    const auto* found = file.attribute(attribute);
    const auto* number = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
    for (DataType type = DataType::F64; number != nullptr && type <= DataType::C128;
         type = static_cast<DataType>(static_cast<std::uint8_t>(type) + 1))
      if (onnxlib::elementTypeNumber(type) == *number) return type;
    return DataType::Undefined;
  }

  /// Returns the only type that the schema allows for the result, or the type of an operand with the same type
  /// parameter.
  DataType typeBySchema(const TensorGraph::Node& node, std::size_t result, const onnxlib::OperatorTypes& types) const {
    const onnxlib::SlotTypes* made = types.result(result);
    if (made == nullptr) return DataType::Undefined;
    if (made->allowed.size() == 1) return made->allowed.front();
    for (std::size_t i = 0; i < node.file->inputs.size(); ++i) {
      const onnxlib::SlotTypes* slot = types.operand(i);
      if (slot == nullptr || slot->parameter != made->parameter) continue;
      if (const DataType type = operandType(node, i); made->allows(type)) return type;
    }
    return DataType::Undefined;
  }

  DataType typeByTable(const TensorGraph::Node& node) const {
    constexpr std::size_t kZeroOfGemm = 8;  ///< the result is a float if this operand is omitted
    if (node.file->op == "QGemm") {
      const DataType codes = operandType(node, kZeroOfGemm);
      return node.file->inputs.size() > kZeroOfGemm ? codes : operandType(node, 1);
    }
    const auto found = std::ranges::find(kResults, node.file->op, &ResultLike::op);
    return found == kResults.end() ? DataType::Undefined : operandType(node, found->operand);
  }

  Optimised& m_optimised;
  const onnxlib::Opsets& m_opsets;
};

}  // namespace

void inferTypes(Optimised& optimised, const onnxlib::Opsets& opsets) {
  TypeInference(optimised, opsets).run();
}

}  // namespace fusescope::onnxruntime
