#include <gtest/gtest.h>

#include <cmath>

#include "ir/graph.h"

namespace fusescope {
namespace {

std::string reprinted(const std::string& text) {
  const auto graph = parseGraph(text);
  return graph.ok() ? printGraph(*graph.value()) : graph.error().text();
}

TEST(GraphText, PrintsOneNodeALine) {
  GraphEditor editor;
  editor.setName("net");
  const ValueId x = editor.addInput("x", {DataType::F32, Shape::of(std::vector<Dim>{Dim::named("batch"), 3})});
  const ValueId axes = editor.addConstant("axes", Tensor::ofInt64({1}));
  const ValueId y = editor.addValue("onnx::y", {DataType::F32, Shape::of(std::vector<Dim>{Dim::named("batch"), 1})});
  Node node{.op = "ReduceMean", .name = "node \"r\"", .inputs = {x, axes}, .outputs = {y}, .origins = {OriginId(4)}};
  node.attributes["keepdims"] = std::int64_t{1};
  node.attributes["alpha"] = 0.5F;
  editor.addNode(node);
  editor.addOutput(y);
  const auto graph = editor.publish();
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(printGraph(*graph.value()),
            "graph \"net\" {\n"
            "  input %x: f32[batch, 3]\n"
            "  const %axes: int64[1] = [1]\n"
            "  %\"onnx::y\": f32[batch, 1] = ReduceMean(%x, %axes) <alpha=0.5f, keepdims=1> "
            "{name=\"node \\\"r\\\"\", origins=[4]}\n"
            "  output %\"onnx::y\"\n"
            "}\n");
}

TEST(GraphText, EveryKindOfPartReadsBackTheSame) {
  const std::string text = R"(graph "all\nkinds" {
  input %x: f32["2*n", ?, 3]
  input %u: undefined[...]
  const %f: f32[5] = [0.1, -0, nan, inf, -inf]
  const %d: f64[1] = [0.1]
  const %h: f16[2] = [0.5, 65504]
  const %b: bool[2] = [true, false]
  const %i4: int4[3] = [-8, 7, 1]
  const %u64: uint64[1] = [18446744073709551615]
  const %s: string[2] = ["a", "\"q\"\x01"]
  const %none: f32[0] = []
  const %scalar: int64[] = [-9223372036854775808]
  const %big: f32[10, 10] = dense
  %a: f32[1], _, %c: f32[] = Split(%x, _, %f) <e="text", f=[1f, 0.25f], g=inf, i=[1, -2], n=ints[], s=["a", "b"], z=floats[]> {name="split", origins=[0, 7]}
  %k: undefined[...] = "com.vendor"::Odd() <t=tensor int64[2] = [3, 4]> {name="odd"}
  %y: f32[...] = If(%b) <then_branch=body (%a, %f) graph "t" {
      input %a: f32[1]
      input %f: f32[5]
      %r: f32[5] = Add(%a, %f) {name="add"}
      output %r
    }> {name="if", origins=[2]}
  output %y
  output %u
}
)";
  std::string wanted = text;
  wanted.replace(wanted.find("\"com.vendor\""), 12, "com.vendor");
  EXPECT_EQ(reprinted(text), wanted);
  EXPECT_EQ(reprinted(wanted), wanted);
}

TEST(GraphText, ErrorsNameTheLine) {
  EXPECT_EQ(reprinted("graph \"g\" {\n  output %x\n}\n"), "line 2: %x is not defined above");
  EXPECT_EQ(reprinted("graph \"g\" {\n  input %x: f99[1]\n}\n"), "line 2: 'f99' is not an element type");
  EXPECT_EQ(reprinted("graph \"g\" {\n  input %x: f32[1]\n  input %x: f32[1]\n}\n"), "line 3: %x is defined twice");
  EXPECT_EQ(reprinted("graph \"g\" {"), "line 1: expected a name");
  EXPECT_EQ(reprinted("graph \"g\" {\n  const %c: f32[2] = [1]\n}\n"), "line 2: expected ','");
  EXPECT_EQ(reprinted("graph \"g\" {\n}\nmore"), "line 3: there is text after the graph");
}

TEST(GraphText, CommentsAreSkipped) {
  EXPECT_EQ(reprinted("// top\ngraph \"g\" { // in\n  input %x: f32[1] // end\n}\n"),
            "graph \"g\" {\n  input %x: f32[1]\n}\n");
}

}  // namespace
}  // namespace fusescope
