// Which optimiser made a kernel of ONNX Runtime, as the networks say that it writes.
#include <gtest/gtest.h>

#include "compilers/onnxruntime/optimiser_names.h"

namespace fusescope {
namespace {

std::string madeBy(const std::string& name, const std::string& op, const std::string& domain,
                   const std::string& documentation, std::size_t held = 2) {
  onnxlib::FileNode node;
  node.name = name;
  node.op = op;
  node.domain = domain;
  node.documentation = documentation;
  return onnxruntime::optimiserOf(node, held);
}

TEST(OnnxRuntimeOptimisers, AreNamedByNamesOfNodes) {
  EXPECT_EQ(madeBy("n14/MatMulAddFusion", "Gemm", "", "fused Matmul and Add"), "MatMulAddFusion");
  EXPECT_EQ(madeBy("n99/MatMulScaleFusion/", "FusedMatMul", "com.microsoft", "Fused MatMul and Scale"),
            "MatMulScaleFusion");
  EXPECT_EQ(madeBy("n7/QuickGeluFusion/_token_3", "QuickGelu", "com.microsoft", ""), "QuickGeluFusion");
  EXPECT_EQ(madeBy("n7/Fusion of two", "Add", "", ""), "");
  EXPECT_EQ(madeBy("MatMulAddFusion", "Gemm", "", ""), "") << "a node of the user's may have this name";
}

TEST(OnnxRuntimeOptimisers, AreNamedByTheTextInNodes) {
  EXPECT_EQ(madeBy("SkipLayerNormalization_token_70", "SkipLayerNormalization", "com.microsoft",
                   "fused SkipLayerNorm subgraphs "),
            "SkipLayerNormFusion");
  EXPECT_EQ(madeBy("Transpose", "Transpose", "", "Added in transpose optimizer", 4), "TransposeOptimizer");
  EXPECT_EQ(madeBy("gemm_input_reshape", "Reshape", "", "Reshape for gemm_input", 0), "MatMulAddFusion");
}

TEST(OnnxRuntimeOptimisers, AreNamedByOperatorsThatTheyAloneWrite) {
  EXPECT_EQ(madeBy("n7", "FusedConv", "com.microsoft", ""), "ConvActivationFusion");
  EXPECT_EQ(madeBy("n7", "FusedConv", "com.microsoft", "", 1), "") << "it was in the user's network";
  EXPECT_EQ(madeBy("v12_nchwc", "Conv", "com.microsoft.nchwc", "v12_nchwc", 1), "NchwcTransformer");
  EXPECT_EQ(madeBy("n7", "Conv", "", ""), "");
}

}  // namespace
}  // namespace fusescope
