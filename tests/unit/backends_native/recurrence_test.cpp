// LSTM and GRU by the native backend against the reference.
#include <gtest/gtest.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

struct Form {
  std::string op;
  std::int64_t time = 4, batch = 2, features = 6, hidden = 5;
  std::string direction = "forward";
  bool states = false, bias = true, batchFirst = false, resetsProduct = false;
  std::string text() const {
    return op + " " + direction + " " + std::to_string(time) + "x" + std::to_string(batch) + "x" +
           std::to_string(features) + "->" + std::to_string(hidden) + (states ? " states" : "") +
           (bias ? " bias" : "") + (batchFirst ? " batch first" : "") + (resetsProduct ? " resets product" : "");
  }
};

/// The node with all its outputs wanted; its outcomes with every tactic of ours.
std::vector<TacticOutcome> outcomesOf(const Form& form) {
  Net net;
  const std::int64_t gates = form.op == "LSTM" ? 4 : 3, directions = form.direction == "bidirectional" ? 2 : 1;
  const Dims state =
      form.batchFirst ? Dims{form.batch, directions, form.hidden} : Dims{directions, form.batch, form.hidden};
  std::vector<ValueId> inputs{net.input(form.batchFirst ? Dims{form.batch, form.time, form.features}
                                                        : Dims{form.time, form.batch, form.features}),
                              net.weights({directions, gates * form.hidden, form.features}),
                              net.weights({directions, gates * form.hidden, form.hidden})};
  inputs.push_back(form.bias ? net.weights({directions, 2 * gates * form.hidden}) : ValueId());
  inputs.emplace_back();
  inputs.push_back(form.states ? net.input(state) : ValueId());
  if (form.op == "LSTM") inputs.push_back(form.states ? net.input(state) : ValueId());
  std::map<std::string, Attribute> attributes{
      {"hidden_size", form.hidden}, {"direction", form.direction}, {"layout", std::int64_t{form.batchFirst ? 1 : 0}}};
  if (form.op == "GRU") attributes["linear_before_reset"] = std::int64_t{form.resetsProduct ? 1 : 0};
  std::vector<ValueId> outputs;
  for (int i = 0; i < (form.op == "LSTM" ? 3 : 2); ++i) {
    outputs.push_back(net.editor.addValue("out" + std::to_string(i), {DataType::Undefined, Shape::unknown()}));
    net.editor.addOutput(outputs.back());
  }
  net.editor.addNode({.op = form.op, .name = "layer", .inputs = inputs, .outputs = outputs, .attributes = attributes});
  std::vector<TacticOutcome> outcomes = tryAllTactics(*planned(net.editor));
  std::erase_if(outcomes, [](const TacticOutcome& outcome) { return outcome.tactic == "reference"; });
  return outcomes;
}

TEST(Recurrence, AgreesWithTheReferenceInEveryForm) {
  std::vector<Form> forms;
  for (const char* op : {"LSTM", "GRU"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      forms.push_back({.op = op, .direction = direction});
      forms.push_back({.op = op, .hidden = 16, .direction = direction, .states = true, .batchFirst = true});
    }
    forms.push_back({.op = op, .time = 1, .batch = 1, .features = 128, .hidden = 128, .states = true});
    forms.push_back({.op = op, .time = 3, .batch = 1, .features = 300, .hidden = 260, .direction = "bidirectional"});
    forms.push_back({.op = op, .hidden = 37, .bias = false});
  }
  const std::size_t count = forms.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (forms[i].op != "GRU") continue;
    forms.push_back(forms[i]);
    forms.back().resetsProduct = true;
  }
  for (const Form& form : forms) {
    SCOPED_TRACE(form.text());
    const auto outcomes = outcomesOf(form);
    EXPECT_GT(expectAgreement(outcomes), 0);
    for (const TacticOutcome& outcome : outcomes)
      EXPECT_EQ(outcome.tactic.find(":reference"), std::string::npos) << outcome.tactic;
  }
}

TEST(Recurrence, WhatItDoesNotTakeIsLeftToTheReference) {
  const auto planOf = [](std::map<std::string, Attribute> attributes) {
    Net net;
    attributes["hidden_size"] = std::int64_t{5};
    net.editor.addOutput(net.add("LSTM", {net.input({3, 2, 4}), net.weights({1, 20, 4}), net.weights({1, 20, 5})},
                                 std::move(attributes)));
    return planned(net.editor);
  };
  const auto isFallback = [](const Plan& plan) { return plan.segments.at(0).kind == SegmentKind::Fallback; };
  EXPECT_FALSE(isFallback(*planOf({})));
  EXPECT_FALSE(isFallback(*planOf({{"activations", std::vector<std::string>{"sigmoid", "TANH", "Tanh"}}})));
  EXPECT_TRUE(isFallback(*planOf({{"clip", 3.0F}})));
  EXPECT_TRUE(isFallback(*planOf({{"input_forget", std::int64_t{1}}})));
  EXPECT_TRUE(isFallback(*planOf({{"activations", std::vector<std::string>{"Sigmoid", "Relu", "Tanh"}}})));
}

}  // namespace
}  // namespace fusescope::testing
