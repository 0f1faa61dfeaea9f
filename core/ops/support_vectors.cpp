// Scores from support vectors. Semantics: operators SVMClassifier and SVMRegressor of ai.onnx.ml. Where these are
// undefined (the order of scores, votes, two classes), results are those of ONNX Runtime. Probabilities of several
// classes are coupled as in Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise
// Coupling" (2004), algorithm 2, with LIBSVM's limits for its steps and error.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/class_scores.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace support_vectors {
namespace {

struct SupportVectors {
  std::string kernel;
  double gamma = 0, offset = 0, degree = 0;
  std::vector<float> vectors;
  std::size_t count = 0, features = 0;

  /// Returns the kernel function of `x` and vector `i`.
  double kernelOf(std::span<const double> x, std::size_t i) const {
    double product = 0, distance = 0;
    for (std::size_t f = 0; f < features; ++f) {
      const double v = static_cast<double>(vectors[i * features + f]),
                   own = static_cast<double>(static_cast<float>(x[f]));
      product += own * v;
      distance += (own - v) * (own - v);
    }
    if (kernel == "RBF") return std::exp(-gamma * distance);
    if (kernel == "POLY") return std::pow(gamma * product + offset, degree);
    return kernel == "SIGMOID" ? std::tanh(gamma * product + offset) : product;
  }
};

Result<SupportVectors> supportVectors(const Node& node, std::size_t count) {
  SupportVectors support{
      .kernel = TRY(choiceAttribute(node, "kernel_type", "LINEAR", {"LINEAR", "POLY", "RBF", "SIGMOID"})),
      .vectors = listAttribute<float>(node, "support_vectors"),
      .count = count};
  if (count == 0 || support.vectors.empty() || support.vectors.size() % count != 0)
    return attributeProblem("support_vectors",
                            fmt::format("has {} entries, which is not a positive multiple of the {} vectors",
                                        support.vectors.size(), count));
  support.features = support.vectors.size() / count;
  const auto parameters = listAttribute<float>(node, "kernel_params");
  if (parameters.size() != 3 && support.kernel != "LINEAR")
    return attributeProblem("kernel_params", fmt::format("has {} entries, expected 3", parameters.size()));
  if (parameters.size() != 3) return support;
  support.gamma = static_cast<double>(parameters[0]);
  support.offset = static_cast<double>(parameters[1]);
  support.degree = static_cast<double>(parameters[2]);
  return support;
}

Status checkFeatures(const SupportVectors& support, const Shape& shape) {
  const Dim features = featureCount(shape);
  if (!features.known() || features.size == static_cast<std::int64_t>(support.features)) return Done{};
  return problem(fmt::format("the rows of the input have {} features, but the support vectors have {}", features.size,
                             support.features));
}

Status requireEntries(const std::string& attribute, std::size_t has, std::size_t wanted) {
  if (has == wanted) return Done{};
  return attributeProblem(attribute, fmt::format("has {} entries, expected {}", has, wanted));
}

/// One against one: every pair of classes has a score, which is positive for the first of them.
struct Classifier {
  SupportVectors support;
  ClassLabels labels;
  std::vector<std::size_t> starts;  ///< where the vectors of each class begin, followed by their number
  std::vector<float> coefficients, rho, probA, probB;
  ScoreTransform transform = ScoreTransform::None;

  std::size_t classes() const { return labels.count(); }
  std::size_t pairs() const { return classes() * (classes() - 1) / 2; }
  bool hasProbabilities() const { return !probA.empty(); }
  std::size_t scoreCount() const { return hasProbabilities() || classes() == 2 ? classes() : pairs(); }
};

Status checkCounts(const Classifier& classifier) {
  const std::size_t classes = classifier.classes();
  if (classes < 2) return problem("the classifier needs at least two classes");
  TRY(requireEntries("vectors_per_class", classifier.starts.size() - 1, classes));
  TRY(requireEntries("coefficients", classifier.coefficients.size(), (classes - 1) * classifier.support.count));
  TRY(requireEntries("rho", classifier.rho.size(), classifier.pairs()));
  if (classifier.probA.empty() && classifier.probB.empty()) return Done{};
  TRY(requireEntries("prob_a", classifier.probA.size(), classifier.pairs()));
  return requireEntries("prob_b", classifier.probB.size(), classifier.pairs());
}

Result<Classifier> classifierOf(const Node& node) {
  Classifier classifier{.support = {},
                        .labels = TRY(ClassLabels::create(node, "classlabels_strings", "classlabels_ints")),
                        .starts = {0},
                        .coefficients = listAttribute<float>(node, "coefficients"),
                        .rho = listAttribute<float>(node, "rho"),
                        .probA = listAttribute<float>(node, "prob_a"),
                        .probB = listAttribute<float>(node, "prob_b"),
                        .transform = TRY(scoreTransform(node))};
  for (const std::int64_t count : node.intsAttribute("vectors_per_class")) {
    if (count < 0 || count > (std::int64_t{1} << 40))
      return attributeProblem("vectors_per_class",
                              fmt::format("contains {}, which is not a valid number of vectors", count));
    classifier.starts.push_back(classifier.starts.back() + static_cast<std::size_t>(count));
  }
  if (classifier.starts.back() == 0)
    return attributeProblem("vectors_per_class", "contains no support vector",
                            "Export a linear model as LinearClassifier.");
  classifier.support = TRY(supportVectors(node, classifier.starts.back()));
  TRY(checkCounts(classifier));
  return classifier;
}

/// Returns the score of each pair of classes: (0, 1), (0, 2) … (1, 2) …
std::vector<double> pairScores(const Classifier& classifier, std::span<const double> x) {
  const std::size_t vectors = classifier.support.count;
  std::vector<double> alike;
  for (std::size_t i = 0; i < vectors; ++i) alike.push_back(classifier.support.kernelOf(x, i));
  const auto part = [&](std::size_t row, std::size_t ofClass) {
    double sum = 0;
    for (std::size_t i = classifier.starts[ofClass]; i < classifier.starts[ofClass + 1]; ++i)
      sum += static_cast<double>(classifier.coefficients[row * vectors + i]) * alike[i];
    return sum;
  };
  std::vector<double> scores;
  for (std::size_t a = 0; a + 1 < classifier.classes(); ++a)
    for (std::size_t b = a + 1; b < classifier.classes(); ++b)
      scores.push_back(part(b - 1, a) + part(a, b) + static_cast<double>(classifier.rho[scores.size()]));
  return scores;
}

/// Returns the class that wins the most pairs, the first one of several.
std::size_t mostVotes(const std::vector<double>& scores, std::size_t classes) {
  std::vector<int> votes(classes, 0);
  std::size_t pair = 0;
  for (std::size_t a = 0; a + 1 < classes; ++a)
    for (std::size_t b = a + 1; b < classes; ++b) ++votes[scores[pair++] > 0 ? a : b];
  return static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
}

/// Returns the probability of each of the n classes. `wins[a * n + b]` is the probability of class a if it is a or b.
std::vector<double> coupled(const std::vector<double>& wins, std::size_t n) {
  constexpr int kMostSteps = 100;
  std::vector<double> q(n * n, 0), p(n, 1 / static_cast<double>(n)), qp(n, 0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      q[a * n + a] += wins[b * n + a] * wins[b * n + a];
      q[a * n + b] = -wins[b * n + a] * wins[a * n + b];
    }
  for (int step = 0; step < kMostSteps; ++step) {
    double pqp = 0, error = 0;
    for (std::size_t a = 0; a < n; ++a) {
      qp[a] = 0;
      for (std::size_t b = 0; b < n; ++b) qp[a] += q[a * n + b] * p[b];
      pqp += p[a] * qp[a];
    }
    for (const double value : qp) error = std::max(error, std::abs(value - pqp));
    if (error < 0.005 / static_cast<double>(n)) break;
    for (std::size_t a = 0; a < n; ++a) {
      const double change = (pqp - qp[a]) / q[a * n + a], whole = 1 + change;
      p[a] += change;
      pqp = (pqp + change * (change * q[a * n + a] + 2 * qp[a])) / whole / whole;
      for (std::size_t b = 0; b < n; ++b) {
        qp[b] = (qp[b] + change * q[a * n + b]) / whole;
        p[b] /= whole;
      }
    }
  }
  return p;
}

std::vector<float> probabilities(const Classifier& classifier, const std::vector<double>& scores) {
  constexpr double kLeast = 1e-7;
  const std::size_t n = classifier.classes();
  std::vector<double> wins(n * n, 0);
  std::size_t pair = 0;
  for (std::size_t a = 0; a + 1 < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b, ++pair) {
      const double exponent =
          scores[pair] * static_cast<double>(classifier.probA[pair]) + static_cast<double>(classifier.probB[pair]);
      wins[a * n + b] = std::clamp(1 / (1 + std::exp(exponent)), kLeast, 1 - kLeast);
      wins[b * n + a] = 1 - wins[a * n + b];
    }
  const std::vector<double> result = coupled(wins, n);
  return {result.begin(), result.end()};
}

Result<std::vector<float>> finalScores(const Classifier& classifier, const std::vector<double>& scores) {
  if (!classifier.hasProbabilities() && classifier.classes() == 2)
    return scoresOfTwo(static_cast<float>(scores[0]), classifier.transform == ScoreTransform::None,
                       classifier.transform);
  std::vector<float> result = classifier.hasProbabilities() ? probabilities(classifier, scores)
                                                            : std::vector<float>(scores.begin(), scores.end());
  transformScores(result, classifier.transform);
  return result;
}

Result<Types> inferClassifier(const InferContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(classifier.support, context.input(0).shape));
  const Dim scores(static_cast<std::int64_t>(classifier.scoreCount()));
  return Types{TensorType{classifier.labels.type(), Shape::of(std::vector{rows})},
               TensorType{DataType::F32, Shape::of(std::vector{rows, scores})}};
}

Result<Tensors> classify(const KernelContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  Tensor scores = TRY(allocate(
      DataType::F32, {static_cast<std::int64_t>(rows.rows), static_cast<std::int64_t>(classifier.scoreCount())}));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::vector<double> pairs = pairScores(classifier, rows.row(i));
    chosen.push_back(mostVotes(pairs, classifier.classes()));
    const std::vector<float> row = TRY(finalScores(classifier, pairs));
    std::ranges::copy(row, scores.mutableData<float>().subspan(i * row.size()).begin());
  }
  return Tensors{classifier.labels.pick(chosen), std::move(scores)};
}

struct Regressor {
  SupportVectors support;
  std::vector<float> coefficients;
  double rho = 0;
  bool oneClass = false;  ///< whether the result is 1 (similar to the vectors) or -1
};

Result<Regressor> regressorOf(const Node& node) {
  Regressor regressor{.support = {},
                      .coefficients = listAttribute<float>(node, "coefficients"),
                      .oneClass = node.intAttribute("one_class", 0) != 0};
  TRY(scoreTransform(node));
  const auto rho = listAttribute<float>(node, "rho");
  TRY(requireEntries("rho", rho.size(), 1));
  regressor.rho = static_cast<double>(rho[0]);
  const std::int64_t vectors = node.intAttribute("n_supports", 0);
  if (vectors > 0) {
    regressor.support = TRY(supportVectors(node, static_cast<std::size_t>(vectors)));
  } else {  // a linear model, whose coefficients are one vector
    regressor.support = {
        .kernel = "LINEAR", .vectors = regressor.coefficients, .count = 1, .features = regressor.coefficients.size()};
    regressor.coefficients = {1};
  }
  TRY(requireEntries("coefficients", regressor.coefficients.size(), regressor.support.count));
  return regressor;
}

Result<Types> inferRegressor(const InferContext& context) {
  const Regressor regressor = TRY(regressorOf(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(regressor.support, context.input(0).shape));
  return one(DataType::F32, Shape::of(std::vector{rows, Dim(1)}));
}

Result<Tensors> regress(const KernelContext& context) {
  const Regressor regressor = TRY(regressorOf(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  Tensor results = TRY(allocateOutput(context));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    double sum = regressor.rho;
    for (std::size_t v = 0; v < regressor.support.count; ++v)
      sum += static_cast<double>(regressor.coefficients[v]) * regressor.support.kernelOf(rows.row(i), v);
    if (regressor.oneClass) sum = sum > 0 ? 1 : -1;
    results.mutableData<float>()[i] = static_cast<float>(sum);
  }
  return Tensors{std::move(results)};
}

}  // namespace
}  // namespace support_vectors

void registerSupportVectors(OpRegistry& registry) {
  registry.add(featureSchema("SVMClassifier", support_vectors::inferClassifier, support_vectors::classify, 2));
  registry.add(featureSchema("SVMRegressor", support_vectors::inferRegressor, support_vectors::regress));
}

}  // namespace fusescope::ops
