// LSTM and GRU by the native backend against the reference.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

struct Form {
  std::string op;
  std::int64_t time = 4, batch = 2, features = 6, hidden = 5;
  std::string direction = "forward";
  bool states = false, bias = true, batchFirst = false, resetsProduct = false, lengths = false, peepholes = false;
  std::string text() const {
    return op + " " + direction + " " + std::to_string(time) + "x" + std::to_string(batch) + "x" +
           std::to_string(features) + "->" + std::to_string(hidden) + (states ? " states" : "") +
           (bias ? " bias" : "") + (batchFirst ? " batch first" : "") + (resetsProduct ? " resets product" : "") +
           (lengths ? " lengths" : "") + (peepholes ? " peepholes" : "");
  }
};

/// The node with all its outputs wanted; its outcomes with every tactic of ours.
std::vector<TacticOutcome> outcomesOf(Net& net, Node node) {
  for (int i = 0; i < (node.is("GRU") ? 2 : 3); ++i) {
    node.outputs.push_back(net.editor.addValue("out" + std::to_string(i), {DataType::Undefined, Shape::unknown()}));
    net.editor.addOutput(node.outputs.back());
  }
  net.editor.addNode(std::move(node));
  std::vector<TacticOutcome> outcomes = tryAllTactics(*planned(net.editor));
  std::erase_if(outcomes, [](const TacticOutcome& outcome) { return outcome.tactic == "reference"; });
  return outcomes;
}

void expectOwn(const std::vector<TacticOutcome>& outcomes, double tolerance = 1e-4) {
  EXPECT_GT(expectAgreement(outcomes, tolerance), 0);
  for (const TacticOutcome& outcome : outcomes)
    EXPECT_EQ(outcome.tactic.find(":reference"), std::string::npos) << outcome.tactic;
}

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
  inputs.push_back(form.lengths ? net.input({form.batch}, DataType::I32) : ValueId());  // 0 to 3
  inputs.push_back(form.states ? net.input(state) : ValueId());
  if (form.op == "LSTM") inputs.push_back(form.states ? net.input(state) : ValueId());
  if (form.peepholes) inputs.push_back(net.weights({directions, 3 * form.hidden}));
  std::map<std::string, Attribute> attributes{
      {"hidden_size", form.hidden}, {"direction", form.direction}, {"layout", std::int64_t{form.batchFirst ? 1 : 0}}};
  if (form.op == "GRU") attributes["linear_before_reset"] = std::int64_t{form.resetsProduct ? 1 : 0};
  return outcomesOf(net, {.op = form.op, .name = "layer", .inputs = inputs, .attributes = attributes});
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
    forms.push_back({.op = op, .time = 3, .batch = 3, .lengths = true});
    forms.push_back({.op = op, .time = 3, .batch = 3, .direction = "bidirectional", .states = true, .lengths = true});
  }
  forms.push_back({.op = "LSTM", .states = true, .peepholes = true});
  forms.push_back({.op = "LSTM", .hidden = 17, .direction = "bidirectional", .peepholes = true});
  const std::size_t count = forms.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (forms[i].op != "GRU") continue;
    forms.push_back(forms[i]);
    forms.back().resetsProduct = true;
  }
  for (const Form& form : forms) {
    SCOPED_TRACE(form.text());
    expectOwn(outcomesOf(form));
  }
}

struct QuantizedForm {
  std::int64_t time = 4, batch = 2, features = 6, hidden = 5;
  std::string direction = "forward";
  DataType codes = DataType::I8;
  bool each = false, states = false, lengths = false, peepholes = false;
};

std::vector<TacticOutcome> outcomesOf(const QuantizedForm& form) {
  Net net;
  const std::int64_t directions = form.direction == "bidirectional" ? 2 : 1, gates = 4 * form.hidden;
  const Dims state{directions, form.batch, form.hidden},
      parameters = form.each ? Dims{directions, gates} : Dims{directions};
  const auto scales = [&] {
    Tensor tensor = Tensor::zeros(DataType::F32, parameters);
    for (float& scale : tensor.mutableData<float>()) scale = 0.002F + 0.0001F * static_cast<float>(net.seed++ % 9);
    return net.editor.addConstant("scale" + std::to_string(net.names++), tensor);
  };
  Node node{.op = "DynamicQuantizeLSTM", .domain = "com.microsoft", .name = "layer"};
  node.inputs = {net.input({form.time, form.batch, form.features}),
                 net.codes({directions, form.features, gates}, form.codes),
                 net.codes({directions, form.hidden, gates}, form.codes),
                 net.weights({directions, 2 * gates}),
                 form.lengths ? net.input({form.batch}, DataType::I32) : ValueId(),
                 form.states ? net.input(state) : ValueId(),
                 form.states ? net.input(state) : ValueId(),
                 form.peepholes ? net.weights({directions, 3 * form.hidden}) : ValueId()};
  for (int matrix = 0; matrix < 2; ++matrix) {
    node.inputs.push_back(scales());
    node.inputs.push_back(net.codes(parameters, form.codes));
  }
  node.attributes = {{"hidden_size", form.hidden}, {"direction", form.direction}};
  return outcomesOf(net, std::move(node));
}

// A state that lies between two codes may round either way: then sums differ by a step.
TEST(Recurrence, QuantizedAgreesWithTheReferenceInEveryForm) {
  for (const QuantizedForm& form :
       {QuantizedForm{}, QuantizedForm{.direction = "reverse", .codes = DataType::U8},
        QuantizedForm{.direction = "bidirectional", .each = true, .states = true},
        QuantizedForm{.time = 6, .batch = 1, .features = 70, .hidden = 65, .direction = "bidirectional"},
        QuantizedForm{.time = 3, .batch = 1, .features = 512, .hidden = 260, .codes = DataType::U8, .each = true},
        QuantizedForm{.batch = 7, .states = true, .peepholes = true},
        QuantizedForm{.time = 3, .batch = 3, .direction = "bidirectional", .states = true, .lengths = true}})
    expectOwn(outcomesOf(form), 1e-3);
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
