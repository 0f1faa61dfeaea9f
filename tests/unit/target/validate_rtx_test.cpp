// Verdicts of tensorrt-rtx, and of what TensorRT's parser does by its source in all versions: each restriction that is
// a function, where it holds, where it does not, and where that is not known.
#include <array>

#include "tests/unit/target/verdict_of.h"

namespace fusescope {
namespace {

/// Attention of Q, K and V of these extents at `type`; a mask where `mask` is not empty.
Decision attention(const std::string& target, const std::string& type, const std::string& q, const std::string& k,
                   const std::string& attributes = "", const std::string& mask = "", const std::string& v = "") {
  std::string text = "input %q: " + type + "[" + q + "]\ninput %k: " + type + "[" + k + "]\ninput %v: " + type + "[" +
                     (v.empty() ? k : v) + "]\n";
  if (!mask.empty()) text += "input %m: " + type + "[" + mask + "]\n";
  return verdict(target, text + "%y: " + type + "[" + q + "] = Attention(%q, %k, %v" + (mask.empty() ? "" : ", %m") +
                             ") " + attributes + " {name=\"a\"}\noutput %y");
}

/// The same of two inputs.
Decision onTwo(const std::string& target, const std::string& op, const std::string& a, const std::string& b,
               const std::string& result, const std::string& attributes = "") {
  return verdict(target, "input %a: " + a + "\ninput %b: " + b + "\n%y: " + result + " = " + op + "(%a, %b) " +
                             attributes + " {name=\"n\"}\noutput %y");
}

constexpr const char* kHeads = "<q_num_heads=2, kv_num_heads=2>";

TEST(ValidateForTensorrtRtx, TypesByComputeCapability) {
  EXPECT_EQ(onOne("tensorrt-rtx", "Relu", "bf16[4]").code, "validate.supported");
  const Decision old = onOne("tensorrt-rtx:sm75", "Relu", "bf16[4]");
  EXPECT_EQ(old.code, "validate.type_not_supported");
  EXPECT_EQ(old.arguments["lacking"], "target");
  EXPECT_TRUE(says(old, "tensorrt-rtx:sm75")) << message(old);
  EXPECT_EQ(onOne("tensorrt-rtx:sm75", "Relu", "f16[4]").code, "validate.supported");
  const Decision integers = onOne("tensorrt-rtx:sm75", "Exp", "int32[4]");
  EXPECT_FALSE(says(integers, "bf16")) << "no advice to take a type that the card lacks: " << message(integers);
  for (const auto& [machine, taken] : {std::pair("sm86", false), std::pair("sm89", true), std::pair("sm120", true)}) {
    const Decision codes =
        verdict(std::string("tensorrt-rtx:") + machine,
                "input %x: f8e4m3[4]\nconst %s: f32[] = [1]\n%y: f32[4] = DequantizeLinear(%x, %s) {name=\"d\"}\n"
                "output %y");
    EXPECT_EQ(codes.allowed, taken) << machine << ": " << message(codes);
  }
}

TEST(ValidateForTensorrtRtx, NoCastIsAdvisedThatWouldMakeOtherNumbersOfCodes) {
  for (const char* codes : {"uint8[4]", "int32[4]"}) {
    const Decision refused =
        verdict("tensorrt-rtx", std::string("input %x: ") + codes +
                                    "\nconst %s: f32[] = [1]\n%y: f32[4] = DequantizeLinear(%x, %s) {name=\"d\"}\n"
                                    "output %y");
    EXPECT_EQ(refused.code, "validate.type_not_supported") << codes;
    EXPECT_FALSE(says(refused, "a Cast of it")) << message(refused);
  }
  EXPECT_TRUE(says(onOne("tensorrt-rtx", "Exp", "int32[4]"), "a Cast of it to f32"));
}

TEST(ValidateForTensorrtRtx, ProductsInF32NeedMoreThanTuring) {
  EXPECT_EQ(onTwo("tensorrt-rtx:sm80", "MatMul", "f32[2, 3]", "f32[3, 4]", "f32[2, 4]").code, "validate.supported");
  EXPECT_EQ(onTwo("tensorrt-rtx:sm75", "MatMul", "f16[2, 3]", "f16[3, 4]", "f16[2, 4]").code, "validate.supported");
  const Decision turing = onTwo("tensorrt-rtx:sm75", "MatMul", "f32[2, 3]", "f32[3, 4]", "f32[2, 4]");
  EXPECT_EQ(turing.code, "validate.operand_not_supported");
  EXPECT_TRUE(says(turing, "A is f16")) << message(turing);
}

TEST(ValidateForTensorrtRtx, WhatItsPackagesLack) {
  for (const char* op : {"RoiAlign", "NonZero", "DeformConv", "NonMaxSuppression"}) {
    EXPECT_EQ(onOne("tensorrt-rtx", op, "f32[1, 2, 8, 8]").code, "validate.operator_not_supported") << op;
    EXPECT_NE(onOne("tensorrt-11", op, "f32[1, 2, 8, 8]").code, "validate.operator_not_supported") << op;
  }
  const std::string scatter =
      "input %x: f32[4]\ninput %i: int64[2]\ninput %u: f32[2]\n%y: f32[4] = ScatterElements(%x, "
      "%i, %u) ";
  EXPECT_EQ(verdict("tensorrt-rtx", scatter + "{name=\"s\"}\noutput %y").code, "validate.supported");
  const std::string sum = scatter + "<reduction=\"add\"> {name=\"s\"}\noutput %y";
  EXPECT_EQ(verdict("tensorrt-rtx", sum).code, "validate.attribute_not_supported");
  EXPECT_EQ(verdict("tensorrt-11", sum).code, "validate.supported");
  EXPECT_EQ(onOne("tensorrt-rtx", "Swish", "f32[4]").code, "validate.supported");
}

TEST(ValidateForTensorrtRtx, AttentionIsOneFusedKernel) {
  const auto code = [](const char* type, const char* q, const char* k, const char* attributes = "",
                       const char* mask = "") { return attention("tensorrt-rtx", type, q, k, attributes, mask).code; };
  for (const char* type : {"f16", "bf16"}) {
    EXPECT_EQ(code(type, "1, 2, 6, 64", "1, 2, 9, 64"), "validate.supported");
    EXPECT_EQ(code(type, "1, 2, 6, 64", "1, 2, 9, 64", "<is_causal=1>"), "validate.supported");
    EXPECT_EQ(code(type, "1, 2, 6, 64", "1, 2, 9, 64", "", "6, 9"), "validate.supported");
    EXPECT_EQ(code(type, "1, 2, 6, 8", "1, 2, 9, 8"), "validate.restriction_not_met");
    EXPECT_EQ(code(type, "1, 2, 6, 512", "1, 2, 9, 512"), "validate.restriction_not_met");
    EXPECT_EQ(code(type, "1, 2, 6, 300", "1, 2, 9, 300"), "validate.supported_with_condition");
    EXPECT_EQ(code(type, "1, 2, 6, n", "1, 2, 9, n"), "validate.supported_with_condition");
    EXPECT_EQ(code(type, "1, 6, 128", "1, 9, 128", kHeads, "6, 9"), "validate.supported");
    EXPECT_EQ(code(type, "1, 6, 16", "1, 9, 16", kHeads, "6, 9"), "validate.restriction_not_met") << "8 a head";
  }
  EXPECT_EQ(code("f32", "1, 2, 6, 64", "1, 2, 9, 64"), "validate.restriction_not_met");
  EXPECT_EQ(code("f32", "1, 2, n, 64", "1, 2, m, 64"), "validate.supported_with_condition") << "n may be 1";
  EXPECT_EQ(code("f32", "1, 2, 1, 64", "1, 2, 9, 64"), "validate.supported") << "a single query";
  EXPECT_EQ(code("f32", "1, 2, 1, 64", "1, 2, 9, 64", "", "1, 9"), "validate.restriction_not_met");
  EXPECT_EQ(code("f32", "1, 2, 6, 64", "1, 2, 9, 64", "<TRT_decomposable=1>"), "validate.supported");
  EXPECT_EQ(code("f32", "1, 6, 128", "1, 9, 128", kHeads), "validate.supported");
  EXPECT_EQ(code("f32", "1, 6, 128", "1, 9, 128", "<q_num_heads=2, kv_num_heads=2, is_causal=1>"),
            "validate.restriction_not_met");
  EXPECT_EQ(code("f32", "1, 6, 128", "1, 9, 64", "<q_num_heads=2, kv_num_heads=1>"), "validate.restriction_not_met");
  EXPECT_EQ(code("f32", "...", "..."), "validate.supported_with_condition");
}

TEST(ValidateForTensorrt, AttentionHasAMaskOrIsCausal) {
  for (const char* target : {"tensorrt-11", "tensorrt-rtx"}) {
    EXPECT_TRUE(attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "", "1, 1, 6, 9").allowed) << target;
    const Decision both = attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "<is_causal=1>", "1, 1, 6, 9");
    EXPECT_EQ(both.code, "validate.restriction_not_met") << target;
    EXPECT_TRUE(says(both, "a mask or is causal")) << message(both);
    EXPECT_EQ(attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "<softmax_precision=1>").code,
              "validate.restriction_not_met")
        << target;
    EXPECT_EQ(attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "<left_window_size=2>").code,
              "validate.attribute_not_supported")
        << target;
    EXPECT_TRUE(attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "<left_window_size=-1>").allowed) << target;
    EXPECT_EQ(attention(target, "f16", "1, 2, 6, 64", "1, 2, 9, 64", "", "", "1, 2, 9, 32").code,
              "validate.restriction_not_met")
        << target;
    const Decision open = attention(target, "f16", "1, 2, 6, 64", "1, 2, n, 64", "", "", "1, 2, m, 64");
    EXPECT_TRUE(says(open, "keys and values have the same extents")) << message(open);
    EXPECT_TRUE(open.allowed) << target;
  }
}

TEST(ValidateForTensorrt, RemaindersOfFloatsAreThoseOfC) {
  for (const char* target : {"tensorrt-10", "tensorrt-11", "tensorrt-rtx"}) {
    EXPECT_EQ(onTwo(target, "Mod", "f32[4]", "f32[4]", "f32[4]").code, "validate.restriction_not_met") << target;
    EXPECT_EQ(onTwo(target, "Mod", "f32[4]", "f32[4]", "f32[4]", "<fmod=1>").code, "validate.supported") << target;
    EXPECT_EQ(onTwo(target, "Mod", "int32[4]", "int32[4]", "int32[4]").code, "validate.supported") << target;
  }
}

TEST(ValidateForTensorrt, AVectorIsMultipliedByOneMatrix) {
  for (const char* target : {"tensorrt-10", "tensorrt-11", "tensorrt-rtx"}) {
    EXPECT_EQ(onTwo(target, "MatMul", "f16[3]", "f16[3, 4]", "f16[4]").code, "validate.supported") << target;
    EXPECT_EQ(onTwo(target, "MatMul", "f16[3]", "f16[1, 3, 4]", "f16[1, 4]").code, "validate.supported") << target;
    EXPECT_EQ(onTwo(target, "MatMul", "f16[3]", "f16[2, 3, 4]", "f16[2, 4]").code, "validate.restriction_not_met");
    EXPECT_EQ(onTwo(target, "MatMul", "f16[3]", "f16[n, 3, 4]", "f16[n, 4]").code, "validate.supported_with_condition");
    EXPECT_EQ(onTwo(target, "MatMul", "f16[2, 3, 4]", "f16[4]", "f16[2, 3]").code, "validate.supported") << target;
  }
}

TEST(ValidateForTensorrtRtx, NoFloatInputDecidesExtents) {
  const auto resize = [](const std::string& scales) {
    return verdict("tensorrt-rtx", "input %x: f32[1, 1, 4, 4]\n" + scales +
                                       "\n%y: f32[1, 1, ?, ?] = Resize(%x, _, %s) {name=\"r\"}\noutput %y")
        .code;
  };
  EXPECT_EQ(resize("const %s: f32[4] = [1, 1, 2, 2]"), "validate.supported");
  EXPECT_EQ(resize("input %s: f32[4]"), "validate.restriction_not_met");
  EXPECT_EQ(resize("input %i: int64[4]\n%s: f32[4] = Cast(%i) <to=1> {name=\"c\"}"), "validate.supported");
  const auto range = [](const std::string& type) {
    return verdict("tensorrt-rtx", "const %s: " + type + "[] = [0]\ninput %l: " + type + "[]\nconst %d: " + type +
                                       "[] = [1]\n%y: " + type + "[?] = Range(%s, %l, %d) {name=\"r\"}\noutput %y")
        .code;
  };
  EXPECT_EQ(range("f32"), "validate.restriction_not_met");
  EXPECT_EQ(range("int64"), "validate.supported");
}

TEST(ValidateForTensorrt, ZeroPointsOfFp8AreNotRead) {
  const auto dequantized = [](const std::string& type, const char* point) {
    return verdict("tensorrt-11", "input %x: " + type + "[4]\nconst %s: f32[] = [1]\n" + point + " %z: " + type + "[]" +
                                      (std::string(point) == "const" ? " = [0]" : "") +
                                      "\n%y: f32[4] = DequantizeLinear(%x, %s, %z) {name=\"d\"}\noutput %y")
        .code;
  };
  EXPECT_EQ(dequantized("int8", "const"), "validate.supported");
  EXPECT_EQ(dequantized("int8", "input"), "validate.operand_not_constant");
  EXPECT_EQ(dequantized("f8e4m3", "input"), "validate.supported");
}

TEST(ValidateForTensorrt, PoolsOfOneAxisAreThoseOfTwo) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    EXPECT_EQ(onOne("tensorrt-11", op, "f32[1, 3, 8]").code, "validate.supported") << op;
    EXPECT_EQ(onOne("tensorrt-11", op, "f32[1, 3, 8, 8, 8, 8]").code, "validate.rank_not_supported") << op;
  }
}

}  // namespace
}  // namespace fusescope
