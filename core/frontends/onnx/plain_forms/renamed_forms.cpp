// Operators that also exist in ai.onnx, and small operators of converters.
#include "frontends/onnx/plain_forms/forms_by_family.h"

namespace fusescope::plain {

/// The same operator in ai.onnx.
Status renamed(Form& form) {
  std::vector<std::string> inputs = form.node().inputs;
  if (form.node().op == "Range" && !form.has(2))
    inputs = {form.in(0), form.in(1), form.numberLike("step", 1, form.in(0))};
  form.finish(form.node().op, std::move(inputs), form.node().attributes);
  return Done{};
}

/// A map from class to score for each row becomes the table of scores of which it is made, because there are no maps
/// here.
Status tableOfMaps(Form& form) {
  form.finish("Identity", {form.in(0)});
  return Done{};
}

/// Unsqueeze along an axis that is given as a number, not as a list.
Status expandDims(Form& form) {
  const std::string axis = form.add("axis", "Cast", {form.in(1)}, {attribute("to", kInt64)});
  const std::string axes = form.add("axes", "Reshape", {axis, form.ints("list", {-1})});
  form.finish("Unsqueeze", {form.in(0), axes});
  return Done{};
}

/// The sums of the squared differences between each row of a and each row of b, and their roots if requested.
Status pairwiseDistance(Form& form) {
  const std::string metric = form.textOf("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return form.problem("the distance '" + metric + "' is not supported", "Use sqeuclidean or euclidean.");
  const std::string a = form.add("rows_of_a", "Unsqueeze", {form.in(0), form.ints("a_axis", {1})});
  const std::string b = form.add("rows_of_b", "Unsqueeze", {form.in(1), form.ints("b_axis", {0})});
  const std::string last = form.ints("last_axis", {-1});
  const std::vector<FileAttribute> flat{attribute("keepdims", std::int64_t{0})};
  const std::string difference = form.add("difference", "Sub", {a, b});
  form.finish(metric == "euclidean" ? "ReduceL2" : "ReduceSumSquare", {difference, last}, flat);
  return Done{};
}

}  // namespace fusescope::plain
