// Verdicts by type, rank, attribute, operand, extents, version and body; each code of a refusal at least once.
#include <gtest/gtest.h>

#include "target/node_types.h"
#include "target/runs_in.h"
#include "tests/unit/target/verdict_of.h"

namespace fusescope {
namespace {

TEST(ValidateForCpu, AnswersWithACode) {
  EXPECT_EQ(onOne("cpu:avx2", "Relu", "f32[2]").code, "validate.supported");
  EXPECT_EQ(onOne("cpu:avx2", "Relu", "f64[2]").code, "validate.supported");
  EXPECT_EQ(onOne("cpu:avx2", "Unheard", "f32[2]").code, "validate.no_kernel");
  EXPECT_EQ(onOne("cpu:avx2", "Identity", "string[2]").code, "validate.type_not_supported");
  EXPECT_EQ(onOne("cpu:avx2", "Relu", "undefined[2]").code, "validate.type_unknown");
}

TEST(ValidateForCpu, WhatTheReferenceRunsIsNotAccelerated) {
  for (const char* op : {"RNN", "Hardmax", "Det", "Einsum"}) {
    const Decision decision = onOne("cpu:avx2", op, "f32[2, 2, 2]");
    EXPECT_EQ(decision.code, "validate.reference_only") << op;
    EXPECT_TRUE(says(decision, "the reference runs it")) << message(decision);
  }
  for (const char* op : {"Reshape", "Squeeze", "Shape", "Cast", "QuantizeLinear", "Transpose"})
    EXPECT_EQ(onOne("cpu:avx2", op, "f32[2, 2]").code, "validate.supported") << op;
}

TEST(ValidateForCpu, LengthsOfSequencesAreIntegers) {
  for (const auto& [op, gates] : {std::pair("GRU", "9"), std::pair("LSTM", "12")}) {
    const std::string weights = "f32[1, " + std::string(gates) + ", 3] = dense";
    const Decision decision =
        verdict("cpu:avx2", "input %x: f32[5, 2, 3]\ninput %lengths: int32[2]\nconst %w: " + weights +
                                "\nconst %r: " + weights + "\n%y: f32[5, 1, 2, 3] = " + op +
                                "(%x, %w, %r, _, %lengths) <hidden_size=3> {name=\"n\"}\noutput %y");
    EXPECT_EQ(decision.code, "validate.supported") << message(decision);
  }
}

TEST(ValidateForTensorrt, OperatorsByVersion) {
  EXPECT_EQ(onOne("tensorrt-10", "Relu", "f64[2]").code, "validate.type_not_supported");
  EXPECT_EQ(onOne("tensorrt-8", "Neg", "int64[2]").arguments["type"], "int64");
  EXPECT_EQ(onOne("tensorrt-10", "Neg", "int64[2]").code, "validate.supported");
  EXPECT_EQ(onOne("tensorrt-8", "Det", "f32[2, 2]").code, "validate.operator_not_supported");
  for (const char* op : {"Gelu", "Hardmax", "Mish"}) {
    const Decision old = onOne("tensorrt-8", op, "f32[4, 4]");
    EXPECT_EQ(old.code, "validate.operator_not_supported") << op;
    ASSERT_TRUE(old.arguments.contains("equivalent")) << op;
    EXPECT_TRUE(says(old, *old.arguments["equivalent"].text())) << message(old);
    EXPECT_EQ(onOne("tensorrt-10", op, "f32[4, 4]").code, "validate.supported") << op;
  }
  EXPECT_FALSE(onOne("tensorrt-8", "Det", "f32[2, 2]").arguments.contains("equivalent"));
  EXPECT_EQ(onOne("tensorrt-10", "Swish", "f32[4]").code, "validate.unknown_for_version");
  EXPECT_TRUE(says(onOne("tensorrt-11", "Swish", "f32[4]"), "10.15"));
  const Decision later = onOne("tensorrt-10", "RotaryEmbedding", "f32[1, 2, 4, 8]");
  EXPECT_EQ(later.code, "validate.supported_with_condition");
  EXPECT_TRUE(says(later, "10.15 or later")) << message(later);
  EXPECT_EQ(onOne("tensorrt-11", "RotaryEmbedding", "f32[1, 2, 4, 8]").code, "validate.supported");
  for (const char* target : {"tensorrt-8", "tensorrt-10", "tensorrt-11"}) {
    for (const char* op : {"com.microsoft::DynamicQuantizeLSTM", "MatMulInteger", "ConvInteger", "QLinearConv"})
      EXPECT_EQ(onOne(target, op, "f32[2, 2, 2]").code, "validate.operator_not_supported") << target << " " << op;
  }
  EXPECT_EQ(verdict("tensorrt-10", "input %x: f32[2]\n%y: f32[2] = my.domain::Relu(%x) {name=\"n\"}\noutput %y").code,
            "validate.operator_not_supported");
}

TEST(ValidateForTensorrt, CodesThatAreOnlyMovedStayCodes) {
  for (const char* target : {"tensorrt-8", "tensorrt-10", "tensorrt-11"}) {
    EXPECT_EQ(onOne(target, "Transpose", "int8[2, 3]", "<perm=[1, 0]>", "int8[3, 2]").code, "validate.supported");
    EXPECT_EQ(onOne(target, "Flatten", "int8[2, 3]").code,
              std::string(target) == "tensorrt-8" ? "validate.type_not_supported" : "validate.supported");
    for (const char* op : {"Exp", "LayerNormalization", "Softmax"})
      EXPECT_EQ(onOne(target, op, "int8[2, 3]").code, "validate.type_not_supported") << target << " " << op;
  }
}

TEST(ValidateForTensorrt, ConstantCodesAreReadByDequantizeLinearAlone) {
  const std::string scale = "const %s: f32[] = [0.5]\nconst %z: int8[] = [0]\n";
  const auto gather = [](const std::string& target, const std::string& table) {
    return verdict(target, table + " %t: int8[4, 3]" + (table == "const" ? " = dense" : "") +
                               "\ninput %i: int64[2]\n%y: int8[2, 3] = Gather(%t, %i) {name=\"n\"}\noutput %y");
  };
  for (const char* target : {"tensorrt-10", "tensorrt-11"}) {
    EXPECT_EQ(gather(target, "input").code, "validate.supported");
    const Decision constant = gather(target, "const");
    EXPECT_EQ(constant.code, "validate.restriction_not_met");
    EXPECT_TRUE(says(constant, "only a DequantizeLinear may read")) << message(constant);
    const auto dequantized = [&](const std::string& dims) {
      return verdict(target, scale + "const %t: int8[" + dims + "] = [3]\n%y: f32[" + dims +
                                 "] = DequantizeLinear(%t, %s, %z) {name=\"n\"}\noutput %y");
    };
    EXPECT_TRUE(dequantized("1").allowed);
    EXPECT_EQ(dequantized("").code, "validate.restriction_not_met");
  }
}

TEST(ValidateForTensorrt, FloatsInWhichAnOperatorRuns) {
  const auto runs = [](const std::string& target, const std::string& op, DataType type) {
    Node node{.op = op, .name = "n"};
    return runsIn(Target::fromName(target).value(), node, type);
  };
  for (const char* target : {"tensorrt-10", "tensorrt-11"}) {
    for (const char* op : {"HardSwish", "GRU", "ConvTranspose", "LpPool", "LpNormalization", "GlobalLpPool", "Shrink",
                           "Mish", "GridSample", "MeanVarianceNormalization", "RandomNormal"}) {
      EXPECT_TRUE(runs(target, op, DataType::F32)) << target << " " << op;
      EXPECT_FALSE(runs(target, op, DataType::BF16)) << target << " " << op;
    }
    for (const char* op : {"HardSwish", "GRU", "ConvTranspose", "LSTM", "MatMul", "Conv"})
      EXPECT_TRUE(runs(target, op, DataType::F16)) << target << " " << op;
    EXPECT_TRUE(runs(target, "LSTM", DataType::BF16)) << target;
    EXPECT_FALSE(runs(target, "Range", DataType::F16)) << target;
    EXPECT_FALSE(runs(target, "MeanVarianceNormalization", DataType::F16)) << target;
    EXPECT_FALSE(runs(target, "HannWindow", DataType::F16)) << target;
    EXPECT_TRUE(runs(target, "Swish", DataType::BF16)) << target << ": nothing is known of it";
  }
  EXPECT_TRUE(runs("cpu:avx2", "LSTM", DataType::BF16)) << "is held narrow, and calculated in f32";
  EXPECT_FALSE(runs("tensorrt-11", "Celu", DataType::F16));
  Node lstm{.op = "LSTM", .name = "n", .inputs = std::vector<ValueId>(8)};
  EXPECT_TRUE(runsIn(Target::fromName("tensorrt-11").value(), lstm, DataType::F16));
  lstm.inputs[7] = ValueId(3);
  EXPECT_FALSE(runsIn(Target::fromName("tensorrt-11").value(), lstm, DataType::F16)) << "with peepholes";
}

TEST(ValidateForTensorrt, TypesByOperator) {
  const Decision product = verdict("tensorrt-10", R"(input %a: int32[4, 4]
    %c: int32[4, 4] = MatMul(%a, %a) {name="mm"}
    output %c)");
  EXPECT_EQ(product.code, "validate.type_not_supported");
  EXPECT_EQ(product.arguments["lacking"], "operator");
  EXPECT_EQ(product.arguments["value"], "a");
  EXPECT_TRUE(says(product, "a Cast of it to f32, f16 or bf16")) << message(product);
  EXPECT_EQ(verdict("tensorrt-8", R"(input %q: uint8[4]
    %s: uint8[4] = Add(%q, %q) {name="add"}
    output %s)")
                .arguments["type"],
            "uint8");
  EXPECT_EQ(onOne("tensorrt-8", "Cast", "uint8[4]", "<to=1>", "f32[4]").code, "validate.supported");
  EXPECT_EQ(onOne("tensorrt-8", "ConstantOfShape", "int32[1]", "", "int32[4]").code, "validate.type_not_supported");
  EXPECT_EQ(verdict("tensorrt-8", R"(input %x: f32[4, 4]
    input %i: int32[2]
    %y: f32[2, 4] = Gather(%x, %i) {name="g"}
    output %y)")
                .code,
            "validate.supported")
      << "indices are not what the operator's types are about";
  const Decision power = verdict("tensorrt-10", R"(input %x: int32[4]
    %y: int32[4] = Pow(%x, %x) {name="p"}
    output %y)");
  EXPECT_EQ(power.code, "validate.supported_with_condition");
  EXPECT_TRUE(says(power, "10.12 or later, for int32")) << message(power);
}

TEST(ValidateForTensorrt, RanksAttributesAndOutputs) {
  const Decision pool = onOne("tensorrt-8", "MaxPool", "f32[1, 3, 8]");
  EXPECT_EQ(pool.code, "validate.rank_not_supported");
  EXPECT_EQ(pool.arguments["rank"], 3);
  EXPECT_TRUE(says(pool, "the rank of X is 4 or 5")) << message(pool);
  EXPECT_EQ(onOne("tensorrt-8", "MaxPool", "f32[...]").code, "validate.supported_with_condition");
  EXPECT_EQ(onOne("tensorrt-8", "MaxPool", "f32[1, 3, 8, 8]", "<dilations=[2, 2]>").code, "validate.supported");
  const Decision dilated = onOne("tensorrt-10", "MaxPool", "f32[1, 3, 8, 8]", "<dilations=[2, 2]>");
  EXPECT_EQ(dilated.code, "validate.attribute_not_supported");
  EXPECT_EQ(dilated.arguments["attribute"], "dilations");
  EXPECT_EQ(onOne("tensorrt-10", "MaxPool", "f32[1, 3, 8, 8]", "<dilations=[1, 1]>").code, "validate.supported");
  EXPECT_EQ(onOne("tensorrt-8", "Resize", "f32[1, 3, 8, 8]", "<mode=\"cubic\">").arguments["given"], "cubic");
  EXPECT_EQ(onOne("tensorrt-10", "Resize", "f32[1, 3, 8, 8]", "<mode=\"cubic\">").code, "validate.supported");
  const Decision indices = verdict("tensorrt-8", R"(input %x: f32[1, 3, 8, 8]
    %y: f32[1, 3, 4, 4], %i: int32[1, 3, 4, 4] = MaxPool(%x) {name="p"}
    output %y)");
  EXPECT_EQ(indices.code, "validate.operand_not_supported");
  EXPECT_TRUE(says(indices, "Indices is not used")) << message(indices);
  const Decision random = onOne("tensorrt-8", "RandomNormalLike", "f32[4]");
  EXPECT_EQ(random.code, "validate.supported_with_caveat");
  EXPECT_TRUE(says(random, "`seed` is ignored")) << message(random);
}

TEST(ValidateForTensorrt, OperandsThatMustBeConstants) {
  const std::string scan = "input %x: f32[4]\n%y: f32[4] = CumSum(%x, %axis) {name=\"c\"}\noutput %y";
  const Decision computed = verdict("tensorrt-8", "input %axis: int32[]\n" + scan);
  EXPECT_EQ(computed.code, "validate.operand_not_constant");
  EXPECT_EQ(computed.arguments["value"], "axis");
  EXPECT_TRUE(says(computed, "as an initializer")) << message(computed);
  EXPECT_EQ(verdict("tensorrt-8", "const %axis: int32[] = [0]\n" + scan).code, "validate.supported");
  const std::string top = "input %x: f32[9999]\n%v: f32[?], %i: int64[?] = TopK(%x, %k) {name=\"t\"}\noutput %v";
  EXPECT_EQ(verdict("tensorrt-10", "const %k: int64[1] = [5]\n" + top).code, "validate.supported");
  EXPECT_EQ(verdict("tensorrt-10", "const %k: int64[1] = [4000]\n" + top).code, "validate.operand_not_supported");
  const Decision unknown = verdict("tensorrt-10", "input %k: int64[1]\n" + top);
  EXPECT_EQ(unknown.code, "validate.supported_with_condition");
  EXPECT_TRUE(says(unknown, "K is less than 3840")) << message(unknown);
  const std::string quantized =
      "input %x: f32[4]\nconst %s: f32[] = [1]\n%y: int8[4] = QuantizeLinear(%x, %s, %z) {name=\"q\"}\noutput %y";
  EXPECT_EQ(verdict("tensorrt-8", "const %z: int8[] = [0]\n" + quantized).code, "validate.supported");
  const Decision shifted = verdict("tensorrt-8", "const %z: int8[] = [3]\n" + quantized);
  EXPECT_EQ(shifted.code, "validate.operand_not_supported");
  EXPECT_TRUE(says(shifted, "y_zero_point is zero; z is not")) << message(shifted);
  const std::string slice =
      "input %x: f32[4]\nconst %s: int64[1] = [0]\ninput %a: int64[1]\n%y: f32[?] = Slice(%x, %s, %s, %a) "
      "{name=\"s\"}\n"
      "output %y";
  EXPECT_TRUE(says(verdict("tensorrt-10", slice), "10.3 or later")) << message(verdict("tensorrt-10", slice));
  EXPECT_EQ(verdict("tensorrt-11", slice).code, "validate.supported");
}

TEST(ValidateForTensorrt, ExtentsAndWhatNeedsAFunction) {
  EXPECT_EQ(onOne("tensorrt-10", "Hardmax", "f32[4, n]").code, "validate.shape_not_supported");
  EXPECT_EQ(onOne("tensorrt-10", "Hardmax", "f32[n, 4]").code, "validate.supported");
  EXPECT_EQ(onOne("tensorrt-10", "EyeLike", "f32[n, 4]").code, "validate.shape_not_supported");
  const auto einsum = [](const char* equation) {
    return onOne("tensorrt-8", "Einsum", "f32[4, 4]", std::string("<equation=\"") + equation + "\">").code;
  };
  EXPECT_EQ(einsum("ij->ji"), "validate.supported");
  EXPECT_EQ(einsum("ii->i"), "validate.restriction_not_met");
  EXPECT_EQ(einsum("...j->j"), "validate.restriction_not_met");
  const auto lstm = [](const char* activations) {
    return onOne("tensorrt-8", "LSTM", "f32[2, 2, 2]",
                 std::string("<activations=") + activations + ", direction=\"bidirectional\">")
        .code;
  };
  EXPECT_EQ(lstm("[\"Sigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Tanh\", \"Tanh\"]"), "validate.supported");
  EXPECT_EQ(lstm("[\"Sigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Relu\", \"Tanh\"]"), "validate.restriction_not_met");
}

/// An If whose branches hold one node each on what they capture.
std::string branches(const std::string& left, const std::string& right, const std::string& type = "f32[4]") {
  const auto body = [&](const char* name, const std::string& op) {
    return "body (%x) graph \"" + std::string(name) + "\" { input %x: " + type + "\n%" + name + "_out: " + type +
           " = " + op + "(%x) {name=\"" + name + "_node\"}\noutput %" + name + "_out }";
  };
  return "input %c: bool[]\ninput %x: " + type + "\n%y: " + type + " = If(%c) <else_branch=" + body("right", right) +
         ", then_branch=" + body("left", left) + "> {name=\"if\"}\noutput %y";
}

TEST(ValidateForTensorrt, BodiesAreAskedNodeByNode) {
  EXPECT_EQ(verdict("tensorrt-10", branches("Exp", "Relu")).code, "validate.supported");
  const Decision operators = verdict("tensorrt-10", branches("Exp", "Det"));
  EXPECT_EQ(operators.code, "validate.body_not_supported");
  EXPECT_EQ(operators.arguments["inner"], "right_node");
  EXPECT_EQ(operators.arguments["path"], "else_branch/right_node");
  EXPECT_EQ(operators.arguments["inner_code"], "validate.operator_not_supported");
  EXPECT_TRUE(says(operators, "does not know Det")) << message(operators);
  const Decision types = verdict("tensorrt-8", branches("Sin", "Relu", "int32[4]"));
  EXPECT_EQ(types.arguments["inner_code"], "validate.type_not_supported");
  EXPECT_EQ(types.arguments["type"], "int32");
}

TEST(ValidateForCpu, OfBodiesSomethingMustRun) {
  EXPECT_EQ(verdict("cpu:avx2", branches("Exp", "Relu")).code, "validate.supported");
  EXPECT_EQ(verdict("cpu:avx2", branches("Exp", "Hardmax")).code, "validate.supported")
      << "what cannot run falls back inside its body";
  const Decision nothing = verdict("cpu:avx2", branches("LpNormalization", "Hardmax"));
  EXPECT_EQ(nothing.code, "validate.body_not_supported");
  EXPECT_EQ(nothing.arguments["path"], "else_branch/right_node");
  EXPECT_EQ(nothing.arguments["inner_code"], "validate.reference_only");
}

TEST(ValidateForTensorrt, BodiesInBodies) {
  const Decision decision = verdict("tensorrt-10", R"(input %c: bool[]
    input %x: f32[4]
    %y: f32[4] = If(%c) <else_branch=body (%x) graph "e" { input %x: f32[4]
        %e: f32[4] = Relu(%x) {name="outer_relu"}
        output %e }, then_branch=body (%c, %x) graph "t" {
        input %c: bool[]
        input %x: f32[4]
        %t: f32[4] = If(%c) <else_branch=body (%x) graph "te" { input %x: f32[4]
            %a: f32[4] = Relu(%x) {name="inner_relu"}
            output %a }, then_branch=body (%x) graph "tt" { input %x: f32[4]
            %b: f32[4] = Det(%x) {name="det"}
            output %b }> {name="inner_if"}
        output %t }> {name="if"}
    output %y)");
  EXPECT_EQ(decision.code, "validate.body_not_supported");
  EXPECT_EQ(decision.arguments["inner"], "det");
  EXPECT_EQ(decision.arguments["path"], "then_branch/inner_if/then_branch/det");
}

TEST(ValidateForTensorrt, CapturedConstantsAreConstantsInside) {
  const auto scan = [](const std::string& axis) {
    return verdict("tensorrt-8", "input %c: bool[]\ninput %x: f32[4]\n" + axis + R"(
    %y: f32[4] = If(%c) <else_branch=body (%x) graph "e" { input %x: f32[4]
        %e: f32[4] = Relu(%x) {name="relu"}
        output %e }, then_branch=body (%x, %axis) graph "t" { input %x: f32[4]
        input %axis: int32[]
        %t: f32[4] = CumSum(%x, %axis) {name="scan"}
        output %t }> {name="if"}
    output %y)");
  };
  EXPECT_EQ(scan("input %axis: int32[]").arguments["inner_code"], "validate.operand_not_constant");
  EXPECT_EQ(scan("const %axis: int32[] = [0]").code, "validate.supported");
  const auto calculated = [](const std::string& one) {
    return verdict("tensorrt-8", "input %c: bool[]\ninput %x: f32[4]\n" + one + R"(
    %y: f32[4] = If(%c) <else_branch=body (%x) graph "e" { input %x: f32[4]
        %e: f32[4] = Relu(%x) {name="relu"}
        output %e }, then_branch=body (%x, %one) graph "t" { input %x: f32[4]
        input %one: int32[]
        %axis: int32[] = Sub(%one, %one) {name="sub"}
        %t: f32[4] = CumSum(%x, %axis) {name="scan"}
        output %t }> {name="if"}
    output %y)");
  };
  EXPECT_EQ(calculated("const %one: int32[] = [1]").code, "validate.supported") << "it depends on constants alone";
  EXPECT_EQ(calculated("input %one: int32[]").arguments["inner"], "scan");
}

TEST(ValidateNode, LeavesContainersToTheFallback) {
  for (const char* target : {"cpu:avx2", "tensorrt-10"}) {
    const Decision decision = onOne(target, "Identity", "sequence(f32[2])");
    EXPECT_EQ(decision.code, "validate.type_not_supported") << target;
    EXPECT_EQ(decision.arguments["type"], "sequence(f32)") << target;
  }
  const auto body = parseGraph("graph \"b\" { input %s: sequence(f32[2]) output %s }").value();
  GraphEditor editor;
  const ValueId x =
      editor.addInput("x", {.dtype = DataType::F32, .shape = Shape::of(Dims{2}), .container = Container::Sequence});
  const ValueId c = editor.addInput("c", {DataType::Bool, Shape::of(Dims{})});
  const ValueId n = editor.addValue("n", {DataType::F32, Shape::of(Dims{2})});
  editor.addNode({.op = "If", .name = "n", .inputs = {c}, .outputs = {n}, .attributes = {{"b", Subgraph{body, {x}}}}});
  editor.addOutput(n);
  const auto graph = editor.publish().value();
  const TensorType* condition[] = {&graph->value(c).type};
  const TensorType* result[] = {&graph->value(n).type};
  const Decision inside =
      validateNode(Target::fromName("tensorrt-10").value(), *graph, graph->node(graph->order()[0]), condition, result)
          .why;
  EXPECT_EQ(inside.code, "validate.body_not_supported") << "what a body gives counts too";
  EXPECT_EQ(inside.arguments["type"], "sequence(f32)");
}

}  // namespace
}  // namespace fusescope
