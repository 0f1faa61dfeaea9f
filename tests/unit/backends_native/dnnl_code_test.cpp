// What oneDNN's names of implementations say about their code.
#include "backends/native/lowering/choice.h"

#include <gtest/gtest.h>

namespace fusescope::native {
namespace {

TEST(DnnlCode, IsReadFromTheNameOfAnImplementation) {
  EXPECT_EQ(dnnlCodeOf("ref:any"), DnnlCode::Reference);
  EXPECT_EQ(dnnlCodeOf("ref_int8:any"), DnnlCode::Reference);
  EXPECT_EQ(dnnlCodeOf("gemm:ref"), DnnlCode::Reference);
  EXPECT_EQ(dnnlCodeOf("gemm:jit"), DnnlCode::Compiled);
  EXPECT_EQ(dnnlCodeOf("conv:any+jit:avx2"), DnnlCode::Compiled);
  EXPECT_EQ(dnnlCodeOf("simple_nchw:any"), DnnlCode::Compiled);
  EXPECT_EQ(dnnlCodeOf("jit:avx2"), DnnlCode::Generated);
  EXPECT_EQ(dnnlCodeOf("brg:avx2_vnni"), DnnlCode::Generated);
  EXPECT_EQ(dnnlCodeOf("jit_uni_int8:avx2"), DnnlCode::Int8Vectors);
  EXPECT_EQ(dnnlCodeOf("brg:avx512_core_vnni"), DnnlCode::WideBlocks);
}

TEST(DnnlCode, IsGeneratedUnlessItWasCompiled) {
  EXPECT_FALSE(isGenerated(DnnlCode::Reference));
  EXPECT_FALSE(isGenerated(DnnlCode::Compiled));
  for (const DnnlCode code : {DnnlCode::Generated, DnnlCode::Int8Vectors, DnnlCode::WideBlocks})
    EXPECT_TRUE(isGenerated(code));
}

}  // namespace
}  // namespace fusescope::native
