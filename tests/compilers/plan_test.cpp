// What another compiler makes of a network: planned, kept, explained and compared.
#include <algorithm>
#include <map>

#include "tests/compilers/added_compiler_fixture.h"

namespace fusescope::test {
namespace {

class AddedCompilerPlan : public AddedCompiler {
 public:
  Json plan(const std::string& model, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"plan", model, "--compiler", "abacus"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
  static std::string fateOf(const Json& plan, const std::string& node) {
    return entryOf(plan["nodes"], "node", node)["fate"].get<std::string>();
  }
  /// The names of the kernels that hold `node`.
  static std::vector<std::string> namesOf(const Json& plan, const std::string& node) {
    std::vector<std::string> names;
    for (const Json& kernel : kernelsOf(plan, node)) names.push_back(kernel["name"].get<std::string>());
    std::ranges::sort(names);
    return names;
  }
  static std::string certaintyOf(const Json& plan, const std::string& node) {
    return entryOf(kernelsOf(plan, node).front()["nodes"], "node", node)["certainty"].get<std::string>();
  }
};

TEST_F(AddedCompilerPlan, EveryNodeHasOneFate) {
  const Json plan = this->plan(everyFate());
  EXPECT_EQ(plan["source"], "read_back");
  EXPECT_EQ(plan["compiler"]["name"], "abacus");
  EXPECT_EQ(plan["compiler"]["options"], Json::object({{"wires", "10"}}));
  const std::map<std::string, std::string> fates{{"product", "kernel"}, {"shift", "kernel"},       {"relu", "kernel"},
                                                 {"left", "kernel"},    {"right", "kernel"},       {"join", "kernel"},
                                                 {"soft", "fallback"},  {"flip", "not_disclosed"}, {"scale", "kernel"},
                                                 {"hard", "fallback"},  {"flat", "view"},          {"last", "kernel"}};
  EXPECT_EQ(plan["nodes"].size(), fates.size());
  for (const auto& [node, fate] : fates) EXPECT_EQ(fateOf(plan, node), fate) << node;
  std::vector<std::string> run;
  for (const Json& segment : plan["segments"])
    run.push_back(segment["kind"].get<std::string>() + " " + segment["nodes"][0].get<std::string>());
  EXPECT_EQ(run, (std::vector<std::string>{"accelerated product", "fallback soft", "accelerated flip", "fallback hard",
                                           "accelerated flat"}));
}

TEST_F(AddedCompilerPlan, ItsKernelsAreAsItTellsThem) {
  const Json plan = this->plan(everyFate());
  EXPECT_EQ(namesOf(plan, "product"), std::vector<std::string>{"beads(product, shift)"});
  EXPECT_EQ(namesOf(plan, "shift"), namesOf(plan, "product"));
  EXPECT_EQ(namesOf(plan, "relu"), (std::vector<std::string>{"beads(relu, left, join)", "beads(relu, right)"}));
  EXPECT_EQ(certaintyOf(plan, "product"), "named");
  EXPECT_EQ(certaintyOf(plan, "shift"), "derived");
  EXPECT_EQ(certaintyOf(plan, "relu"), "guessed");
  const Json product = kernelsOf(plan, "product").front(), scale = kernelsOf(plan, "scale").front();
  EXPECT_EQ(product["kind"], "matmul");
  EXPECT_EQ(product["region"], "frame of products");
  EXPECT_EQ(product["compute"], "f32");
  EXPECT_EQ(product["once"], false);
  EXPECT_EQ(product["outputs"], Json::array({{{"value", "b"}, {"type", "f32"}, {"format", "rows"}}}));
  EXPECT_TRUE(scale["compute"].is_null()) << "it does not say it of products of numbers";
  EXPECT_TRUE(scale["outputs"][0]["type"].is_null());
  EXPECT_EQ(scale["outputs"][0]["value"], "i");
  EXPECT_EQ(kernelsOf(plan, "right").front()["kind"], "beads") << "a word of its own";
  EXPECT_EQ(kernelsOf(plan, "soft").front()["ours"], true);
  const Json prepare = entryOf(plan["kernels"], "name", "prepare weights");
  EXPECT_EQ(prepare["once"], true);
  EXPECT_TRUE(prepare["nodes"].empty());
  ASSERT_EQ(plan["regions"].size(), 1U);
  EXPECT_EQ(plan["regions"][0]["nodes"], Json::array({"product", "shift", "relu", "left", "right", "join"}));
  ASSERT_EQ(plan["conversions"].size(), 1U);
  EXPECT_EQ(plan["conversions"][0], Json({{"value", "x"},
                                          {"from", "rows"},
                                          {"to", "columns"},
                                          {"kind", "reformat"},
                                          {"kernel", "beads(product, shift)"}}));
}

TEST_F(AddedCompilerPlan, WhatItRefusesSaysWhenItWasFoundOut) {
  const Json plan = this->plan(everyFate());
  const auto support = [&](const char* node) { return entryOf(plan["support"], "node", node); };
  EXPECT_EQ(support("product")["taken"], true);
  EXPECT_TRUE(support("flip")["taken"].is_null());
  EXPECT_EQ(support("soft")["taken"], false);
  EXPECT_EQ(support("soft")["code"], "validate.compiler_refused");
  EXPECT_EQ(support("soft")["found_by"], "parser");
  EXPECT_EQ(support("soft")["message"], "there are no beads for Softmax");
  EXPECT_EQ(support("hard")["taken"], false);
  EXPECT_EQ(support("hard")["code"], "validate.compiler_failed");
  EXPECT_EQ(support("hard")["found_by"], "build");
  EXPECT_EQ(support("hard")["message"], "no bead can be moved by a fraction of an error");
  EXPECT_EQ(entryOf(plan["decisions"], "code", "validate.compiler_refused")["message"],
            "abacus refuses Softmax: there are no beads for Softmax");
  EXPECT_EQ(entryOf(plan["decisions"], "code", "validate.compiler_failed")["message"],
            "abacus could not compile it: no bead can be moved by a fraction of an error");
}

TEST_F(AddedCompilerPlan, SaysHowWellOurPredictionHolds) {
  const Json agreement = plan(everyFate())["agreement"];
  EXPECT_GT(agreement["edges"].get<int>(), 0);
  EXPECT_LE(agreement["both"].get<int>(), agreement["made"].get<int>());
  for (const char* number : {"precision", "recall", "f1"}) {
    ASSERT_TRUE(agreement[number].is_number()) << number;
    EXPECT_GT(agreement[number].get<double>(), 0) << number;
    EXPECT_LT(agreement[number].get<double>(), 1) << number;
  }
  const Json types = agreement["stored_types"];
  EXPECT_GT(types["edges"].get<int>() + types["not_disclosed"].get<int>(), 0) << types.dump();
  EXPECT_LE(types["alike"].get<int>(), types["edges"].get<int>());
}

TEST_F(AddedCompilerPlan, PeopleAreToldAllOfIt) {
  const ProcessResult printed = command({"plan", everyFate(), "--compiler", "abacus"});
  ASSERT_EQ(printed.status, 0) << printed.err;
  for (const char* said :
       {"Kernels, as abacus 1.0 made them", "beads(relu, right)", "frame of products", "prepare weights", "once",
        "in several kernels", "not_disclosed", "columns", "Refused by the compiler", "there are no beads for Softmax",
        "no bead can be moved by a fraction of an error", "our prediction: of"})
    EXPECT_NE(printed.out.find(said), std::string::npos) << said << "\n" << printed.out;
}

TEST_F(AddedCompilerPlan, TypesThatCannotBeAskedForAreSaidAndNotGranted) {
  const Json plan = this->plan(sample("fp16_overflow"), {"--pin", "node_linear=bf16", "--pin", "node_linear_1=f16"});
  const Json refused = entryOf(plan["pins"], "node", "node_linear");
  const Json obeyed = entryOf(plan["pins"], "node", "node_linear_1");
  EXPECT_EQ(refused["asked"], "bf16");
  EXPECT_EQ(refused["result"], "ignored");
  EXPECT_EQ(refused["why"], "abacus has no bf16");
  EXPECT_EQ(kernelsOf(plan, "node_linear").front()["compute"], "f32");
  EXPECT_EQ(obeyed["asked"], "f16");
  EXPECT_EQ(obeyed["granted"], "f16");
  EXPECT_EQ(obeyed["result"], "obeyed");
  EXPECT_EQ(kernelsOf(plan, "node_linear_1").front()["compute"], "f16");
}

TEST_F(AddedCompilerPlan, IsKeptInAFileAndOpenedWithoutTheCompiler) {
  const std::string path = file("plan.json");
  ASSERT_EQ(command({"plan", everyFate(), "--compiler", "abacus", "-o", path}).status, 0);
  const PlantedFault fault("dies");
  const Json again = json({"plan", path});
  EXPECT_EQ(again["source"], "read_back");
  EXPECT_EQ(fateOf(again, "flat"), "view");
  EXPECT_EQ(namesOf(again, "relu").size(), 2U);
  EXPECT_EQ(entryOf(again["support"], "node", "hard")["found_by"], "build");
  const ProcessResult same = command({"diff", path, path, "--exit-code"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_EQ(command({"plan", path, "--compiler", "abacus"}).status, 2) << "it holds its own options";
}

TEST_F(AddedCompilerPlan, EveryNodeIsExplained) {
  const std::string model = everyFate();
  const auto madeOf = [&](const char* node) { return json({"explain", model, node, "--compiler", "abacus"})["made"]; };
  const Json relu = madeOf("relu"), hard = madeOf("hard"), flip = madeOf("flip");
  EXPECT_EQ(relu["compiler"], "abacus");
  EXPECT_EQ(relu["fate"], "kernel");
  ASSERT_EQ(relu["kernels"].size(), 2U);
  EXPECT_EQ(relu["kernels"][0]["certainty"], "guessed");
  EXPECT_EQ(relu["support"]["taken"], true);
  EXPECT_EQ(hard["fate"], "fallback");
  EXPECT_EQ(hard["support"]["code"], "validate.compiler_failed");
  EXPECT_EQ(flip["fate"], "not_disclosed");
  EXPECT_TRUE(flip["kernels"].empty());
  const ProcessResult printed = command({"explain", model, "soft", "--compiler", "abacus"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  for (const char* said : {"What abacus made of it", "refused by its parser: there are no beads for Softmax"})
    EXPECT_NE(printed.out.find(said), std::string::npos) << said << "\n" << printed.out;
}

TEST_F(AddedCompilerPlan, StandsBesideOurs) {
  const std::string model = everyFate();
  const Json diff = json({"diff", model, model, "--plan-b", "--compiler abacus"});
  EXPECT_EQ(diff["same"], false);
  EXPECT_EQ(diff["network"]["one"], true);
  EXPECT_FALSE(diff["a"].contains("compiler"));
  EXPECT_EQ(diff["b"]["compiler"], "abacus 1.0");
  EXPECT_EQ(entryOf(diff["differences"], "kind", "compiler")["b"], "--compiler abacus");
  EXPECT_EQ(diff["causes_known"], false);
  EXPECT_FALSE(diff["fusions"].empty());
  const Json soft = entryOf(diff["fates"], "node", "soft"), flat = entryOf(diff["fates"], "node", "flat");
  EXPECT_EQ(soft["a"], "kernel");
  EXPECT_EQ(soft["b"], "fallback");
  EXPECT_EQ(flat["b"], "view");
  EXPECT_TRUE(entryOf(diff["fates"], "node", "relu").is_null());
  const ProcessResult printed = command({"diff", model, model, "--plan-b", "--compiler abacus", "--exit-code"});
  EXPECT_EQ(printed.status, 1) << printed.err;
  EXPECT_NE(printed.out.find("abacus"), std::string::npos) << printed.out;
}

TEST_F(AddedCompilerPlan, OnePinIsTheCauseOfWhatItChanges) {
  const std::string model = sample("fp16_overflow");
  const Json diff = json({"diff", model, model, "--compiler", "abacus", "--plan-b", "--pin node_linear_1=f16"});
  ASSERT_EQ(diff["differences"].size(), 1U) << diff["differences"].dump(1);
  EXPECT_EQ(diff["differences"][0]["b"], "--pin node_linear_1=f16");
  EXPECT_EQ(diff["causes_known"], true);
  ASSERT_FALSE(diff["types"].empty());
  for (const Json& type : diff["types"])
    EXPECT_EQ(type["because"], Json({"--pin node_linear_1=f16 (only in B)"})) << type.dump();
  const ProcessResult same = command({"diff", model, model, "--compiler", "abacus", "--exit-code"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
}

}  // namespace
}  // namespace fusescope::test
