#include "frontends/torch/symbolic_extents.h"

#include "frontends/torch/program_graph.h"
#include "frontends/torch/program_inputs.h"
#include "frontends/torch/program_reader.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

std::string textOf(std::string_view expression) {
  const ExtentExpression read = torch::extentExpressionOf(expression);
  return read.valid() ? read.text() : "invalid";
}

TEST(SymbolicExtents, SymPysFormIsRead) {
  EXPECT_EQ(textOf("Symbol('s77', positive=True, integer=True)"), "s77");
  EXPECT_EQ(textOf("Mul(Integer(8), Symbol('s39', positive=True, integer=True))"), "8*s39");
  EXPECT_EQ(textOf("Add(Symbol('s0', positive=True, integer=True), Integer(-1))"), "s0 - 1");
  EXPECT_EQ(textOf("Add(Mul(Integer(2), Symbol('s0', integer=True)), Symbol('s1', integer=True), Integer(3))"),
            "2*s0 + s1 + 3");
  EXPECT_EQ(textOf("FloorDiv(Symbol('s0', integer=True), Integer(2))"), "s0/2");
  EXPECT_EQ(textOf("Pow(Symbol('s0', integer=True), Integer(2))"), "s0*s0");
  EXPECT_EQ(textOf("Max(Symbol('s0', integer=True), Symbol('s1', integer=True))"), "max(s0, s1)");
  EXPECT_EQ(textOf("Integer(12)"), "12");
}

TEST(SymbolicExtents, FormulasOfOlderFilesAreRead) {
  EXPECT_EQ(textOf("s0"), "s0");
  EXPECT_EQ(textOf("2*s0 + 1"), "2*s0 + 1");
}

TEST(SymbolicExtents, WhatIsNoExtentIsInvalidAndKeptAsText) {
  for (const char* text : {"Symbol('s0'", "Mul(Integer(2)", "Mod(Symbol('s0', integer=True), Integer(2))",
                           "Pow(Symbol('s0', integer=True), Integer(99))", "Integer(99999999999999999999)", "Add()"})
    EXPECT_EQ(textOf(text), "invalid") << text;
  EXPECT_EQ(textOf(std::string(5000, '(')), "invalid");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "Add(Integer(1), ";
  EXPECT_EQ(textOf(deep), "invalid");
  const Dim kept = torch::extentOf({.known = {}, .expression = "Mod(s0, 2)", .hint = {}});
  EXPECT_FALSE(kept.known());
  EXPECT_FALSE(kept.symbol.empty());
}

TEST(SymbolicExtents, ModulesOfANodeAreRead) {
  const auto paths = [](std::string_view text) {
    std::string all;
    for (const torch::ModuleFrame& frame : torch::moduleFramesOf(text))
      all += "<" + frame.path + "|" + frame.className + ">";
    return all;
  };
  EXPECT_EQ(paths("L__self__,,net.Net;L__self__fc,fc,torch.nn.modules.linear.Linear"),
            "<|net.Net><fc|torch.nn.modules.linear.Linear>");
  EXPECT_EQ(paths("a,L['self'].layer.0,net.Block"), "<layer.0|net.Block>")
      << "as strict export of PyTorch 2.5 writes it";
  EXPECT_EQ(paths(""), "");
  EXPECT_EQ(paths("nonsense;a,b"), "");
  EXPECT_EQ(paths("a,getattr(L['self'], '0'),net.Block"), "") << "that is no path";
}

/// A second input `mask` of extents [s0, S] beside x [s0, 4].
Pt2Content twoInputs(const std::string& extent, const std::string& range, const std::string& guards) {
  Pt2Content content = smallProgram();
  content.program = with(content.program, R"("tensor_values": {)",
                         R"("tensor_values": {"mask": {"dtype": 12, "sizes": [)" + extent +
                             R"(, {"as_int": 7}], "strides": [{"as_int": 7}, {"as_int": 1}], "layout": 7},)");
  content.program = with(content.program, R"({"constant_input": {"name": "y", "value": {"as_float": 3.0}}})",
                         R"({"user_input": {"arg": {"as_tensor": {"name": "mask"}}}})");
  content.program = with(content.program, R"("s0": {"min_val": 2, "max_val": 16})", range);
  content.program = with(content.program, R"("guards_code": [])", R"("guards_code": [)" + guards + "]");
  return content;
}

TEST(ProgramInputs, EqualExtentsAreThoseOfOneSymbolAndOfGuards) {
  const auto groupsOf = [](const Pt2Content& content) {
    const auto program = torch::parseExportedProgram(content.program, 100);
    EXPECT_TRUE(program.ok()) << program.error().text();
    std::string text;
    for (const auto& group : torch::equalExtentsOf(program.value())) {
      for (const auto& [input, axis] : group) text += input + std::to_string(axis) + " ";
      text += "; ";
    }
    return text;
  };
  const std::string s0 = symbolicExtent("Symbol('s0', positive=True)", 5);
  const std::string s1 = symbolicExtent("Symbol('s1', positive=True)", 5);
  const std::string range = R"("s0": {"min_val": 2, "max_val": 16})";
  EXPECT_EQ(groupsOf(twoInputs(s0, range, "")), "picture0 factor0 ; ");
  EXPECT_EQ(groupsOf(twoInputs(s1, range, "")), "");
  EXPECT_EQ(groupsOf(twoInputs(s1, range, R"("L['picture'].size()[0] == L['factor'].size()[0]")")),
            "picture0 factor0 ; ");
  EXPECT_EQ(groupsOf(twoInputs(s1, range, R"("L['picture'].size()[0] == 5", "L['a", "L['x'].size()[9"  )")), "");
}

TEST(ProgramInputs, RangesComeOfSymbolsAndExpressions) {
  const std::string twice = symbolicExtent("Mul(Integer(2), Symbol('s0', positive=True, integer=True))", 10);
  const auto specOf = [&](const std::string& range) {
    const auto model = importPt2(pt2Bytes(Pt2Kind::RawWeights, twoInputs(twice, range, "")));
    EXPECT_TRUE(model.ok()) << model.error().text();
    return model.value().inputSpecs.at(1);
  };
  const InputSpec bounded = specOf(R"("s0": {"min_val": 2, "max_val": 16})");
  EXPECT_EQ(bounded.min, (Dims{4, 7}));
  EXPECT_EQ(bounded.opt, (Dims{10, 7}));
  EXPECT_EQ(bounded.max, (Dims{32, 7}));
  EXPECT_EQ(specOf(R"("s0": {"min_val": 2, "max_val": 16}, "2*s0": {"min_val": 6, "max_val": 12})").max, (Dims{12, 7}));
  const InputSpec open = specOf(R"("s0": {"min_val": 0, "max_val": null})");
  EXPECT_EQ(open.min, (Dims{1, 7})) << "an extent of 0 is nobody's request";
  EXPECT_EQ(open.max, (Dims{1024, 7}));
}

TEST(ProgramInputs, ABoundThatIsMissingIsSaid) {
  Pt2Content content = smallProgram();
  content.program = with(content.program, R"("max_val": 16)", R"("max_val": null)");
  const auto model = importPt2(pt2Bytes(Pt2Kind::RawWeights, content));
  ASSERT_TRUE(model.ok()) << model.error().text();
  ASSERT_EQ(model.value().decisions.size(), 2U) << "and how it is made runnable";
  EXPECT_EQ(model.value().decisions[0].code, "import.extent_without_bound");
  EXPECT_EQ(message(model.value().decisions[0]),
            "the file has no upper bound for extent 0 of picture; 1024 is assumed");
}

TEST(ProgramInputs, ExamplesOfListsAndKeywordsAreInTheGraphsOrder) {
  Pt2Content content = twoInputs(R"({"as_int": 5})", R"("s0": {"min_val": 2, "max_val": 16})", "");
  content.program = with(
      content.program,
      R"({\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []})",
      R"({\"type\": \"builtins.list\", \"context\": \"null\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}]}, {\"type\": \"builtins.dict\", \"context\": \"[\\\"factor\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]})");
  PickleWriter examples;
  examples.raw("]").tensor({.key = "0", .sizes = {5, 4}, .strides = {4, 1}}).raw("a\x85");
  examples.raw("}").text("factor").tensor({.key = "1", .sizes = {5, 7}, .strides = {7, 1}, .storage = "BoolStorage"});
  content.examples =
      savedBytes(examples.raw("s\x86").bytes(), {{"0", std::string(80, '\0')}, {"1", std::string(35, '\1')}});
  const TemporaryFolder folder;
  const auto read = readExampleInputs(folder.write("net.pt2", pt2Bytes(Pt2Kind::RawWeights, content)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read.value().size(), 2U);
  EXPECT_EQ(read.value()[0].first, "x") << "within a list it keeps the graph's name";
  EXPECT_EQ(read.value()[0].second.dims(), (Dims{5, 4}));
  EXPECT_EQ(read.value()[1].first, "factor");
  EXPECT_EQ(read.value()[1].second.type(), DataType::Bool);
}

}  // namespace
}  // namespace fusescope::test
