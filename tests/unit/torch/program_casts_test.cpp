// Casts of PyTorch in the JSON of an exported program, written without PyTorch.
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "frontends/torch/program_casts.h"

namespace fusescope::test {
namespace {

/// "y = relu(x)": a node of a program that reads and makes tensors of float32.
Json nodeOf(const std::string& text) {
  const std::size_t equals = text.find(" = "), bracket = text.find('(');
  const std::string op = text.substr(equals + 3, bracket - equals - 3), made = text.substr(0, equals);
  Json node{{"target", "torch.ops.aten." + op + ".default"}, {"inputs", Json::array()}, {"metadata", Json::object()}};
  for (const std::string& read : split(text.substr(bracket + 1, text.size() - bracket - 2), ',')) {
    const bool isType = read.starts_with("type");
    const Json value = isType ? Json{{"as_scalar_type", 7}} : Json{{"as_tensor", {{"name", read}}}};
    node["inputs"].push_back({{"name", isType ? "dtype" : "a"}, {"arg", value}, {"kind", 1}});
  }
  node["outputs"] = Json::array({Json{{"as_tensor", {{"name", made}}}}});
  node["name"] = made;
  return node;
}

/// A program of the input x and the weight w with these nodes; the last one's value is its output.
std::string programOf(const std::vector<std::string>& nodes) {
  const Json meta{{"dtype", 7},
                  {"sizes", {{{"as_int", 4}}}},
                  {"strides", {{{"as_int", 1}}}},
                  {"layout", 7},
                  {"requires_grad", false},
                  {"device", {{"type", "cpu"}, {"index", nullptr}}},
                  {"storage_offset", {{"as_int", 0}}}};
  Json graph{{"inputs", {{{"as_tensor", {{"name", "w"}}}}, {{"as_tensor", {{"name", "x"}}}}}},
             {"nodes", Json::array()},
             {"tensor_values", {{"x", meta}, {"w", meta}}},
             {"sym_int_values", Json::object()},
             {"sym_bool_values", Json::object()},
             {"is_single_tensor_return", false},
             {"custom_obj_values", Json::object()}};
  std::string last;
  for (const std::string& text : nodes) {
    graph["nodes"].push_back(nodeOf(text));
    last = graph["nodes"].back()["name"];
    graph["tensor_values"][last] = meta;
  }
  const Json output{{"as_tensor", {{"name", last}}}};
  graph["outputs"] = Json::array({output});
  const Json signature{{"input_specs",
                        {{{"parameter", {{"arg", {{"name", "w"}}}, {"parameter_name", "w"}}}},
                         {{"user_input", {{"arg", {{"as_tensor", {{"name", "x"}}}}}}}}}},
                       {"output_specs", {{{"user_output", {{"arg", output}}}}}}};
  return Json{{"graph_module",
               {{"graph", graph},
                {"signature", signature},
                {"module_call_graph", Json::array()},
                {"metadata", Json::object()}}},
              {"opset_version", {{"aten", 10}}},
              {"range_constraints", Json::object()},
              {"schema_version", {{"major", 8}, {"minor", 17}}},
              {"verifiers", {"TRAINING"}},
              {"torch_version", "2.11.0"},
              {"guards_code", Json::array()}}
      .dump(1);
}

/// Its nodes as nodeOf() reads them; a cast as "y = cast(x)".
std::vector<std::string> nodesOf(const std::string& program) {
  std::vector<std::string> texts;
  const Json graph = Json::parse(program)["graph_module"]["graph"];
  for (const Json& node : graph["nodes"]) {
    const std::string op = split(node["target"].get<std::string>(), '.')[3];
    std::vector<std::string> read;
    for (const Json& input : node["inputs"]) {
      if (input["arg"].contains("as_tensor"))
        read.push_back(input["arg"]["as_tensor"]["name"]);
      else if (op != "_to_copy")
        read.push_back("type");
    }
    const std::string made = node["outputs"][0]["as_tensor"]["name"];
    EXPECT_EQ(node["name"], made);
    EXPECT_TRUE(graph["tensor_values"].contains(made)) << made;
    const std::int64_t type = graph["tensor_values"][made]["dtype"];
    texts.push_back(made + (type == 6 ? ":f16 = " : " = ") + (op == "_to_copy" ? "cast" : op) + "(" +
                    joined(read, ",") + ")");
  }
  return texts;
}

CastProgram cast(const std::vector<std::string>& nodes, const std::set<std::string>& narrow) {
  const auto made = withCasts(programOf(nodes), narrow, DataType::F16);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? made.value() : CastProgram();
}
using Texts = std::vector<std::string>;

TEST(ProgramCasts, BetweenTwoNarrowNodesNothingIsWidened) {
  const CastProgram made = cast({"a = mm(x,w)", "b = relu(a)", "c = add(b,x)"}, {"a", "b"});
  EXPECT_EQ(nodesOf(made.json), (Texts{"x_f16:f16 = cast(x)", "w_f16:f16 = cast(w)", "a_f16:f16 = mm(x_f16,w_f16)",
                                       "b_f16:f16 = relu(a_f16)", "b = cast(b_f16)", "c = add(b,x)"}));
  EXPECT_EQ(made.narrowed, 2);
  EXPECT_EQ(made.casts, 3);
  EXPECT_FALSE(Json::parse(made.json)["graph_module"]["graph"]["tensor_values"].contains("a")) << "nobody makes it now";
}

TEST(ProgramCasts, OutputsKeepTheirTypeAndTheirName) {
  const CastProgram made = cast({"a = mm(x,w)"}, {"a"});
  EXPECT_EQ(nodesOf(made.json).back(), "a = cast(a_f16)");
  EXPECT_EQ(Json::parse(made.json)["graph_module"]["graph"]["outputs"],
            Json::parse(programOf({"a = mm(x,w)"}))["graph_module"]["graph"]["outputs"]);
}

TEST(ProgramCasts, AValueIsCastOnceAndNamesStayUnique) {
  const CastProgram made = cast({"x_f16 = relu(x)", "a = mm(x,w)", "b = mm(x,a)"}, {"a", "b"});
  EXPECT_EQ(nodesOf(made.json),
            (Texts{"x_f16 = relu(x)", "x_f16_2:f16 = cast(x)", "w_f16:f16 = cast(w)", "a_f16:f16 = mm(x_f16_2,w_f16)",
                   "b_f16:f16 = mm(x_f16_2,a_f16)", "b = cast(b_f16)"}));
}

TEST(ProgramCasts, WhatIsChangedInPlaceForItAloneIsMadeAnew) {
  EXPECT_EQ(nodesOf(cast({"a = conv2d(x,w)", "b = relu_(a)"}, {"a", "b"}).json),
            (Texts{"x_f16:f16 = cast(x)", "w_f16:f16 = cast(w)", "a_f16:f16 = conv2d(x_f16,w_f16)",
                   "b_f16:f16 = relu(a_f16)", "b = cast(b_f16)"}));
}

/// `a` is read after `b` changed it: what was cast before is another value.
TEST(ProgramCasts, WhatOthersReadIsChangedInPlaceInFloat32) {
  const CastProgram made =
      cast({"a = conv2d(x,w)", "b = relu_(a)", "c = view(a)", "d = mm(a,w)"}, {"a", "b", "c", "d"});
  EXPECT_EQ(nodesOf(made.json), (Texts{"x_f16:f16 = cast(x)", "w_f16:f16 = cast(w)", "a_f16:f16 = conv2d(x_f16,w_f16)",
                                       "a = cast(a_f16)", "b = relu_(a)", "c = view(a)", "a_f16_2:f16 = cast(a)",
                                       "w_f16_2:f16 = cast(w)", "d_f16:f16 = mm(a_f16_2,w_f16_2)", "d = cast(d_f16)"}));
  ASSERT_EQ(made.kept.size(), 2U);
  EXPECT_EQ(made.kept[0].node, "b");
  EXPECT_EQ(made.kept[0].why, "changes a value in place that other nodes may read");
  EXPECT_EQ(made.kept[1].node, "c");
}

/// What changes in place what was changed in place shows the same value as that.
TEST(ProgramCasts, AChainOfChangesInPlaceIsOfOneValue) {
  const CastProgram shown = cast({"a = conv2d(x,w)", "b = relu_(a)", "c = add_(b,x)", "d = mul(a,w)"}, {"c"});
  EXPECT_EQ(nodesOf(shown.json), (Texts{"a = conv2d(x,w)", "b = relu_(a)", "c = add_(b,x)", "d = mul(a,w)"}));
  const CastProgram alone = cast({"a = conv2d(x,w)", "b = relu_(a)", "c = add_(b,x)"}, {"a", "b", "c"});
  EXPECT_EQ(nodesOf(alone.json)[4], "c_f16:f16 = add(b_f16,x_f16)");
}

TEST(ProgramCasts, WhatMayShowAValueThatChangesStays) {
  const CastProgram made = cast({"a = relu(x)", "b = diagonal(a)", "c = fill_(b)", "d = mul(a,w)"}, {"b"});
  EXPECT_EQ(made.narrowed, 0);
  ASSERT_EQ(made.kept.size(), 1U);
  EXPECT_EQ(made.kept[0].why, "may be a view of a value that another node changes in place");
}

TEST(ProgramCasts, StatisticsThatAreLearnedStay) {
  Json program = Json::parse(programOf({"a = batch_norm(x,w,w)"}));
  program["graph_module"]["graph"]["nodes"][0]["inputs"].push_back(
      {{"name", "training"}, {"arg", {{"as_bool", true}}}, {"kind", 1}});
  const auto made = withCasts(program.dump(), {"a"}, DataType::F16);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().narrowed, 0);
}

TEST(ProgramCasts, WhatTheAuthorSaysOfTypesStays) {
  const CastProgram made = cast({"a = softmax(x,type)", "b = mm(a,w)"}, {"a"});
  EXPECT_EQ(nodesOf(made.json), (Texts{"a = softmax(x,type)", "b = mm(a,w)"}));
  ASSERT_EQ(made.kept.size(), 1U);
  EXPECT_EQ(made.kept[0].why, "has a type that its author set");
  EXPECT_EQ(made.narrowed, 0);
}

TEST(ProgramCasts, AllElseOfTheFileKeepsItsBytes) {
  const std::string before = programOf({"a = mm(x,w)"}), after = cast({"a = mm(x,w)"}, {"a"}).json;
  const auto behind = [](const std::string& text) { return text.substr(text.find("\"module_call_graph\"")); };
  EXPECT_EQ(behind(before), behind(after));
}

TEST(ProgramCasts, WhatIsNoProgramIsAnError) {
  EXPECT_FALSE(withCasts("{}", {"a"}, DataType::F16).ok());
  EXPECT_FALSE(withCasts("[", {"a"}, DataType::F16).ok());
  std::string nan = programOf({"a = mm(x,w)"});
  nan.replace(nan.find("\"kind\": 1"), 9, "\"kind\": NaN");
  EXPECT_FALSE(withCasts(nan, {"a"}, DataType::F16).ok());
}

}  // namespace
}  // namespace fusescope::test
