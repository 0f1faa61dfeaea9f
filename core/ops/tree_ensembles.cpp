// Ensembles of decision trees. Semantics: operators TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier of
// ai.onnx.ml. Where these are undefined (one score for two classes), results are those of ONNX Runtime.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "ops/families.h"
#include "ops/support/decision_trees.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace tree_ensembles {
namespace {

/// Returns the elements of a list of floats, or of the tensor that may replace it (`key` + "_as_tensor").
std::vector<double> numbersOf(const Node& node, const std::string& key) {
  const auto found = node.attributes.find(key + "_as_tensor");
  const auto* tensor = found == node.attributes.end() ? nullptr : std::get_if<Tensor>(&found->second);
  if (tensor == nullptr || !tensor->hasData()) {
    const auto list = listAttribute<float>(node, key);
    return {list.begin(), list.end()};
  }
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor->count(); ++i) numbers.push_back(tensor->asDouble(i));
  return numbers;
}

Status requireEqualCounts(std::size_t has, std::size_t wanted, const std::string& attribute) {
  if (has == wanted) return Done{};
  return attributeProblem(attribute, fmt::format("has {} entries, expected {}", has, wanted));
}

/// What both older operators contain: nodes, identified by tree and id, and the weights of leaves.
struct ListedTrees {
  const Node& node;
  std::string prefix;  ///< of the leaves' attributes: "target" or "class"
  std::vector<TreeNode> nodes{};
  std::vector<std::size_t> roots{};
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> placeOf{};  ///< by tree and id

  Status read();
  Result<TreeTest> test(const std::string& mode) const;
  Status link(const Ints& trees);
  Status addWeights();
};

Result<TreeTest> ListedTrees::test(const std::string& mode) const {
  constexpr std::array kModes{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  if (mode == "LEAF") return TreeTest::Leaf;
  const auto found = std::ranges::find(kModes, mode);
  if (found == kModes.end())
    return attributeProblem("nodes_modes", fmt::format("contains '{}', which is not a mode of a node", mode));
  return static_cast<TreeTest>(found - kModes.begin());
}

Status ListedTrees::read() {
  const Ints trees = node.intsAttribute("nodes_treeids"), ids = node.intsAttribute("nodes_nodeids");
  const Ints features = node.intsAttribute("nodes_featureids");
  const Ints tracks = node.intsAttribute("nodes_missing_value_tracks_true");
  const auto modes = listAttribute<std::string>(node, "nodes_modes");
  const auto splits = numbersOf(node, "nodes_values");
  TRY(requireEqualCounts(ids.size(), trees.size(), "nodes_nodeids"));
  TRY(requireEqualCounts(features.size(), trees.size(), "nodes_featureids"));
  TRY(requireEqualCounts(modes.size(), trees.size(), "nodes_modes"));
  TRY(requireEqualCounts(splits.size(), trees.size(), "nodes_values"));
  if (!tracks.empty()) TRY(requireEqualCounts(tracks.size(), trees.size(), "nodes_missing_value_tracks_true"));
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (features[i] < 0)
      return attributeProblem("nodes_featureids", fmt::format("contains {}, but it must not be negative", features[i]));
    if (!placeOf.emplace(std::pair(trees[i], ids[i]), i).second)
      return attributeProblem("nodes_nodeids", fmt::format("node {1} of tree {0} is defined twice", trees[i], ids[i]));
    nodes.push_back({.test = TRY(test(modes[i])),
                     .feature = static_cast<std::size_t>(features[i]),
                     .split = splits[i],
                     .trueIfNaN = !tracks.empty() && tracks[i] != 0});
  }
  TRY(link(trees));
  return addWeights();
}

/// Sets the successors of the nodes. The first node of a tree is its root.
Status ListedTrees::link(const Ints& trees) {
  const Ints yes = node.intsAttribute("nodes_truenodeids"), no = node.intsAttribute("nodes_falsenodeids");
  TRY(requireEqualCounts(yes.size(), trees.size(), "nodes_truenodeids"));
  TRY(requireEqualCounts(no.size(), trees.size(), "nodes_falsenodeids"));
  const auto place = [&](std::int64_t tree, std::int64_t id) -> Result<std::size_t> {
    const auto found = placeOf.find({tree, id});
    if (found == placeOf.end()) return problem(fmt::format("tree {} has no node {}", tree, id));
    return found->second;
  };
  std::set<std::int64_t> rooted;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (rooted.insert(trees[i]).second) roots.push_back(i);
    if (nodes[i].test == TreeTest::Leaf) continue;
    nodes[i].whenTrue = TRY(place(trees[i], yes[i]));
    nodes[i].whenFalse = TRY(place(trees[i], no[i]));
  }
  return Done{};
}

Status ListedTrees::addWeights() {
  const Ints trees = node.intsAttribute(prefix + "_treeids"), ids = node.intsAttribute(prefix + "_nodeids");
  const Ints targets = node.intsAttribute(prefix + "_ids");
  const auto weights = numbersOf(node, prefix + "_weights");
  TRY(requireEqualCounts(ids.size(), trees.size(), prefix + "_nodeids"));
  TRY(requireEqualCounts(targets.size(), trees.size(), prefix + "_ids"));
  TRY(requireEqualCounts(weights.size(), trees.size(), prefix + "_weights"));
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto found = placeOf.find({trees[i], ids[i]});
    if (found == placeOf.end() || targets[i] < 0)
      return attributeProblem(
          prefix + "_nodeids",
          fmt::format("weights are given for node {1} of tree {0} and target {2}, but there is no such node", trees[i],
                      ids[i], targets[i]));
    if (nodes[found->second].test == TreeTest::Leaf)  // weights at an inner node are never used
      nodes[found->second].weights.emplace_back(static_cast<std::size_t>(targets[i]), weights[i]);
  }
  return Done{};
}

Result<std::size_t> targetCount(const Node& node) {
  const std::int64_t targets = node.intAttribute("n_targets", 1);
  if (targets < 1 || targets > (std::int64_t{1} << 32))
    return attributeProblem("n_targets", fmt::format("is {}, expected 1 to {}", targets, std::int64_t{1} << 32));
  return static_cast<std::size_t>(targets);
}

struct Regressor {
  DecisionTrees trees;
  std::size_t targets = 0;
  std::vector<double> base;
  ScoreTransform transform = ScoreTransform::None;
};

Result<Regressor> listedRegressor(const Node& node) {
  Regressor regressor{.trees = {},
                      .targets = TRY(targetCount(node)),
                      .base = numbersOf(node, "base_values"),
                      .transform = TRY(scoreTransform(node))};
  if (!regressor.base.empty()) TRY(requireEqualCounts(regressor.base.size(), regressor.targets, "base_values"));
  const std::string joined = TRY(choiceAttribute(node, "aggregate_function", "SUM", {"SUM", "AVERAGE", "MIN", "MAX"}));
  ListedTrees listed{.node = node, .prefix = "target"};
  TRY(listed.read());
  const auto how = joined == "AVERAGE" ? DecisionTrees::Joined::Average
                   : joined == "MIN"   ? DecisionTrees::Joined::Min
                   : joined == "MAX"   ? DecisionTrees::Joined::Max
                                       : DecisionTrees::Joined::Sum;
  regressor.trees =
      TRY(DecisionTrees::create(std::move(listed.nodes), std::move(listed.roots), regressor.targets, how));
  return regressor;
}

/// Returns the tensor under `key`; null for a list of integers or an absent attribute.
const Tensor* tensorOf(const Node& node, const std::string& key) {
  const auto found = node.attributes.find(key);
  const auto* tensor = found == node.attributes.end() ? nullptr : std::get_if<Tensor>(&found->second);
  return tensor != nullptr && tensor->hasData() ? tensor : nullptr;
}

/// The nodes of TreeEnsemble, followed by its leaves.
struct CompactTrees {
  const Node& node;
  std::vector<TreeNode> nodes{};

  Status read();
  Status addLeaves();
  Status addMembers();
};

Status CompactTrees::read() {
  const Tensor* modes = tensorOf(node, "nodes_modes");
  const Tensor* splits = tensorOf(node, "nodes_splits");
  if (modes == nullptr) return attributeProblem("nodes_modes", "is missing");
  if (splits == nullptr) return attributeProblem("nodes_splits", "is missing");
  const auto count = static_cast<std::size_t>(modes->count());
  const Ints features = node.intsAttribute("nodes_featureids"), yes = node.intsAttribute("nodes_truenodeids");
  const Ints no = node.intsAttribute("nodes_falsenodeids"), yesLeaf = node.intsAttribute("nodes_trueleafs");
  const Ints noLeaf = node.intsAttribute("nodes_falseleafs");
  const Ints tracks = node.intsAttribute("nodes_missing_value_tracks_true");
  TRY(requireEqualCounts(static_cast<std::size_t>(splits->count()), count, "nodes_splits"));
  for (const auto& [list, key] : {std::pair(&features, "nodes_featureids"), std::pair(&yes, "nodes_truenodeids"),
                                  std::pair(&no, "nodes_falsenodeids"), std::pair(&yesLeaf, "nodes_trueleafs"),
                                  std::pair(&noLeaf, "nodes_falseleafs")})
    TRY(requireEqualCounts(list->size(), count, key));
  if (!tracks.empty()) TRY(requireEqualCounts(tracks.size(), count, "nodes_missing_value_tracks_true"));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t mode = modes->asInt64(static_cast<std::int64_t>(i));
    if (mode < 0 || mode > static_cast<std::int64_t>(TreeTest::Member))
      return attributeProblem("nodes_modes",
                              fmt::format("contains {}, expected 0 to {}", mode, static_cast<int>(TreeTest::Member)));
    if (features[i] < 0 || yes[i] < 0 || no[i] < 0)
      return attributeProblem("nodes_featureids", fmt::format("the feature or a successor of node {} is negative", i));
    nodes.push_back({.test = static_cast<TreeTest>(mode),
                     .feature = static_cast<std::size_t>(features[i]),
                     .split = splits->asDouble(static_cast<std::int64_t>(i)),
                     .trueIfNaN = !tracks.empty() && tracks[i] != 0,
                     .whenTrue = static_cast<std::size_t>(yes[i]) + (yesLeaf[i] != 0 ? count : 0),
                     .whenFalse = static_cast<std::size_t>(no[i]) + (noLeaf[i] != 0 ? count : 0)});
    const TreeNode& added = nodes.back();
    if ((yesLeaf[i] == 0 && added.whenTrue >= count) || (noLeaf[i] == 0 && added.whenFalse >= count))
      return attributeProblem("nodes_truenodeids", fmt::format("the successor of node {} does not exist", i));
  }
  TRY(addMembers());
  return addLeaves();
}

/// Reads the members of each test for membership, up to the next NaN.
Status CompactTrees::addMembers() {
  const Tensor* members = tensorOf(node, "membership_values");
  std::int64_t next = 0;
  for (TreeNode& tested : nodes) {
    if (tested.test != TreeTest::Member) continue;
    if (members == nullptr || next >= members->count())
      return attributeProblem("membership_values", "has fewer sets than the trees have membership tests");
    for (; next < members->count() && !std::isnan(members->asDouble(next)); ++next)
      tested.members.push_back(members->asDouble(next));
    ++next;
  }
  return Done{};
}

Status CompactTrees::addLeaves() {
  const Tensor* weights = tensorOf(node, "leaf_weights");
  const Ints targets = node.intsAttribute("leaf_targetids");
  if (weights == nullptr) return attributeProblem("leaf_weights", "is missing");
  TRY(requireEqualCounts(static_cast<std::size_t>(weights->count()), targets.size(), "leaf_weights"));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0)
      return attributeProblem("leaf_targetids", fmt::format("contains {}, but it must not be negative", targets[i]));
    TreeNode leaf;
    leaf.weights = {{static_cast<std::size_t>(targets[i]), weights->asDouble(static_cast<std::int64_t>(i))}};
    nodes.push_back(std::move(leaf));
  }
  return Done{};
}

Result<Regressor> compactRegressor(const Node& node) {
  using Joined = DecisionTrees::Joined;
  constexpr std::array kJoined{Joined::Average, Joined::Sum, Joined::Min, Joined::Max};
  constexpr std::array kTransforms{ScoreTransform::None, ScoreTransform::Softmax, ScoreTransform::Logistic,
                                   ScoreTransform::SoftmaxZero, ScoreTransform::Probit};
  const std::int64_t joined = node.intAttribute("aggregate_function", 1);
  const std::int64_t transform = node.intAttribute("post_transform", 0);
  if (joined < 0 || joined >= std::ssize(kJoined))
    return attributeProblem("aggregate_function", fmt::format("is {}, expected 0 to 3", joined));
  if (transform < 0 || transform >= std::ssize(kTransforms))
    return attributeProblem("post_transform", fmt::format("is {}, expected 0 to 4", transform));
  CompactTrees compact{.node = node};
  TRY(compact.read());
  std::vector<std::size_t> roots;
  for (const std::int64_t root : node.intsAttribute("tree_roots")) {
    if (root < 0) return attributeProblem("tree_roots", fmt::format("contains {}, but it must not be negative", root));
    roots.push_back(static_cast<std::size_t>(root));
  }
  Regressor regressor{.trees = {},
                      .targets = TRY(targetCount(node)),
                      .base = {},
                      .transform = kTransforms[static_cast<std::size_t>(transform)]};
  regressor.trees = TRY(DecisionTrees::create(std::move(compact.nodes), std::move(roots), regressor.targets,
                                              kJoined[static_cast<std::size_t>(joined)]));
  return regressor;
}

using ReadRegressor = Result<Regressor> (*)(const Node&);

template <ReadRegressor read>
Result<Types> inferRegressor(const InferContext& context) {
  const Regressor regressor = TRY(read(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(regressor.trees, context.input(0).shape));
  const bool keepsType = read == compactRegressor;
  return one(keepsType ? context.input(0).dtype : DataType::F32,
             Shape::of(std::vector{rows, Dim(static_cast<std::int64_t>(regressor.targets))}));
}

template <ReadRegressor read>
Result<Tensors> regress(const KernelContext& context) {
  const Regressor regressor = TRY(read(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  Tensor results = TRY(allocate(DataType::F64, context.outputDims(0)));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto targets = regressor.trees.targetsOf(rows.row(i));
    const auto to = results.mutableData<double>().subspan(i * targets.size(), targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t)
      to[t] = targets[t].value_or(0) + (regressor.base.empty() ? 0 : regressor.base[t]);
    if (regressor.transform == ScoreTransform::None) continue;
    std::vector<float> scores(to.begin(), to.end());
    transformScores(scores, regressor.transform);
    std::ranges::copy(scores, to.begin());
  }
  return Tensors{results.converted(context.outputType(0))};
}

struct Classifier {
  DecisionTrees trees;
  ClassLabels labels;
  std::vector<double> base;
  ScoreTransform transform = ScoreTransform::None;
  std::optional<std::size_t> single;  ///< if all leaves write the score of only one of two classes: that class
  bool mixed = false;                 ///< a weight is negative, so that scores are no probabilities
};

Result<Classifier> classifierOf(const Node& node) {
  Classifier classifier{.trees = {},
                        .labels = TRY(ClassLabels::create(node, "classlabels_strings", "classlabels_int64s")),
                        .base = numbersOf(node, "base_values"),
                        .transform = TRY(scoreTransform(node))};
  ListedTrees listed{.node = node, .prefix = "class"};
  TRY(listed.read());
  std::set<std::size_t> written;
  for (const TreeNode& leaf : listed.nodes)
    for (const auto& [target, weight] : leaf.weights) {
      written.insert(target);
      classifier.mixed = classifier.mixed || weight < 0;
    }
  if (classifier.labels.count() == 2 && written.size() == 1) classifier.single = *written.begin();
  const std::size_t scores = classifier.single == 0 ? 1 : classifier.labels.count();
  if (!classifier.base.empty()) TRY(requireEqualCounts(classifier.base.size(), scores, "base_values"));
  classifier.trees = TRY(DecisionTrees::create(std::move(listed.nodes), std::move(listed.roots),
                                               classifier.labels.count(), DecisionTrees::Joined::Sum));
  return classifier;
}

Result<Types> inferClassifier(const InferContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const Dim rows = TRY(rowCount(context.input(0).shape));
  TRY(checkFeatures(classifier.trees, context.input(0).shape));
  const Dim classes(static_cast<std::int64_t>(classifier.labels.count()));
  return Types{TensorType{classifier.labels.type(), Shape::of(std::vector{rows})},
               TensorType{DataType::F32, Shape::of(std::vector{rows, classes})}};
}

/// Returns the class with the largest score, rounded to f32 as in the result, among the classes that have a score; of
/// equal ones, the first.
std::size_t largest(const std::vector<std::optional<double>>& scores) {
  const auto written = [&](std::size_t i) { return static_cast<float>(*scores[i]); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] && (!scores[best] || written(i) > written(best))) best = i;
  return best;
}

/// A single score for two classes is that of the second class: it is a probability, or its sign decides.
std::size_t chosenClass(const Classifier& classifier, const std::vector<std::optional<double>>& scores) {
  if (!classifier.single) return largest(scores);
  return scores[*classifier.single].value_or(0) > (classifier.mixed ? 0.0 : 0.5) ? 1 : 0;
}

Result<Tensors> classify(const KernelContext& context) {
  const Classifier classifier = TRY(classifierOf(context.node()));
  const FeatureRows rows = featureRows(context.input(0));
  const auto classes = static_cast<std::int64_t>(classifier.labels.count());
  Tensor results = TRY(allocate(DataType::F32, {static_cast<std::int64_t>(rows.rows), classes}));
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    auto scores = classifier.trees.targetsOf(rows.row(i));
    for (std::size_t c = 0; c < classifier.base.size(); ++c) scores[c] = scores[c].value_or(0) + classifier.base[c];
    std::vector<float> row;
    for (const auto& score : scores) row.push_back(static_cast<float>(score.value_or(0)));
    chosen.push_back(chosenClass(classifier, scores));
    if (classifier.single == 0)
      row = TRY(scoresOfTwo(row[0], classifier.mixed, classifier.transform));
    else
      transformScores(row, classifier.transform);
    std::ranges::copy(row, results.mutableData<float>().subspan(i * row.size()).begin());
  }
  return Tensors{classifier.labels.pick(chosen), std::move(results)};
}

}  // namespace
}  // namespace tree_ensembles

void registerTreeEnsembles(OpRegistry& registry) {
  constexpr TypeSet kCompactTypes{DataType::F64, DataType::F32, DataType::F16};
  registry.add(featureSchema("TreeEnsembleClassifier", tree_ensembles::inferClassifier, tree_ensembles::classify, 2,
                             kFeatureTypes));
  registry.add(featureSchema("TreeEnsembleRegressor", tree_ensembles::inferRegressor<tree_ensembles::listedRegressor>,
                             tree_ensembles::regress<tree_ensembles::listedRegressor>, 1, kFeatureTypes));
  registry.add(featureSchema("TreeEnsemble", tree_ensembles::inferRegressor<tree_ensembles::compactRegressor>,
                             tree_ensembles::regress<tree_ensembles::compactRegressor>, 1, kCompactTypes));
}

}  // namespace fusescope::ops
