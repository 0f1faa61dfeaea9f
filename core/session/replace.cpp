#include "session/replace.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include "base/name_hints.h"
#include "base/text.h"
#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "interchange/export_steps.h"
#include "interchange/source_network.h"
#include "interchange/substitutions/substitution.h"
#include "interchange/typed_network/names_of_file.h"
#include "interchange/typed_network/opset_raising.h"
#include "onnxlib/edited_network.h"
#include "planning/applicable_options.h"
#include "planning/patterns/match_pattern.h"
#include "session/build_and_run.h"
#include "session/documents/report_json.h"
#include "session/file_kernels.h"
#include "session/open_artifact.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

struct AskedRule {
  const Substitution* rule = nullptr;
  std::string argument;
  std::string text;
};

Result<AskedRule> askedRule(const std::string& text) {
  const std::size_t at = text.find('@');
  const std::string wanted = text.substr(0, at);
  AskedRule asked{.rule = findSubstitution(wanted),
                  .argument = at == std::string::npos ? std::string() : text.substr(at + 1),
                  .text = text};
  if (asked.rule == nullptr) {
    std::vector<std::string> known;
    for (const Substitution& rule : substitutions()) known.emplace_back(rule.name);
    return Diagnostic{.message = "there is no rule '" + wanted + "'",
                      .where = {.attribute = "RULE"},
                      .help = nearestInWords(wanted, known, "replace --list prints all rules.")};
  }
  if (asked.rule->argument == RuleArgument::Value && asked.argument.empty())
    return Diagnostic{.message = "the rule needs a value",
                      .where = {.attribute = text},
                      .help = fmt::format("Write {}@VALUE.", wanted)};
  return asked;
}

ListedNode listed(const onnxlib::FileNode& node) {
  return {
      .name = node.displayName(), .op = node.op, .domain = node.domain, .inputs = node.inputs, .outputs = node.outputs};
}

std::set<std::string> namesWith(const std::vector<ListedNode>& nodes, const std::vector<std::string>& more) {
  std::set<std::string> names(more.begin(), more.end());
  for (const ListedNode& node : nodes) names.insert(node.name);
  return names;
}

/// Returns the names of the kernels that contain nodes of the file with these names.
std::vector<std::string> kernelsOfNodes(const FileKernels& kernels, const std::set<std::string>& nodes) {
  std::set<std::string> found;
  for (const std::string& node : nodes) {
    const auto& names = kernels.namesOf(node);
    found.insert(names.begin(), names.end());
  }
  return {found.begin(), found.end()};
}

/// Applies rules to a file, which is written again each time.
class Replacing {
 public:
  Replacing(const Artifact& artifact, const Samples& samples, const ReplaceOptions& options)
      : m_artifact(artifact), m_samples(samples), m_options(options) {}

  Result<ReplacedNetwork> run(const std::vector<std::string>& rules) {
    std::vector<AskedRule> asked;
    for (const std::string& text : rules) asked.push_back(TRY(askedRule(text)));
    m_folder = std::make_shared<const TemporaryFolder>(TRY(folderBeside(m_options.path, "replacing")));
    m_source = TRY(sourceNetwork(*m_artifact.plan, m_options.run.stop));
    if (const Status made = make(asked); !made.ok()) return located(made.error(), m_folder->path(), m_source);
    m_result.save = [folder = m_folder, path = m_options.path, bytes = m_bytes] {
      return onnxlib::writeNetwork(path, bytes);
    };
    return std::move(m_result);
  }

 private:
  Status make(const std::vector<AskedRule>& rules) {
    TRY(take(m_source));
    m_result.opsetBefore = opset();
    for (const AskedRule& rule : rules) TRY(apply(rule));
    m_result.opsetAfter = opset();
    TRY(checkNotWrittenOver(m_options.path, *m_artifact.plan, m_bytes));
    TRY(checkByOnnx(m_path, m_source));
    TRY(comparePlans());
    return compareNumbers();
  }

  /// Continues with the network at `path`.
  Status take(const std::filesystem::path& path) {
    m_path = path;
    m_model = TRY(openModel(path, {}, m_options.run.stop));
    m_file = TRY(onnxlib::readModel(path));
    return Done{};
  }

  std::int64_t opset() const { return FileMatcher(m_file, *m_model).opset(); }

  Status apply(const AskedRule& asked) {
    bool isFound = false;
    if (asked.rule->opset > opset() && !TRY(sitesOf(asked, true)).empty()) TRY(raise(asked));
    constexpr int kMostRounds = 64;
    for (int round = 0; round < (asked.rule->repeats ? kMostRounds : 1); ++round) {
      const std::vector<ReplacedSite> sites = TRY(sitesOf(asked, false));
      if (sites.empty()) break;
      isFound = true;
      onnxlib::NetworkEdits edits = editsOf(sites);
      for (const ReplacedSite& site : sites) {
        record(asked, site);
        keepExtents(site, edits);
      }
      TRY(write(edits));
    }
    if (isFound) return Done{};
    return Diagnostic{.message = fmt::format("the network has no place for the rule {}", asked.text),
                      .where = {.file = m_artifact.path, .attribute = "RULE"},
                      .help = fmt::format("The rule does this: {}.", asked.rule->summary)};
  }

  /// Returns sites that share no node and that the argument names. If `looksOnly` is set, new names are not reserved.
  Result<std::vector<ReplacedSite>> sitesOf(const AskedRule& asked, bool looksOnly) {
    const FileMatcher match(m_file, *m_model);
    std::set<std::string> names = m_names;
    collectNames(m_file.graph, names);
    std::vector<ReplacedSite> found =
        TRY(asked.rule->find({.match = match, .names = names, .argument = asked.argument}));
    std::set<std::size_t> chosen;
    const bool isNamed = asked.rule->argument == RuleArgument::Nodes && !asked.argument.empty();
    if (isNamed && !found.empty()) {
      const PatternMatch nodes = TRY(PatternMatcher(*m_model).match(asked.argument, m_options.run.stop));
      for (const NodeId node : nodes.nodes)
        for (const OriginId origin : m_model->graph->node(node).origins) chosen.insert(origin.index);
      for (const OriginId origin : nodes.removed) chosen.insert(origin.index);
    }
    std::set<std::size_t> taken;
    std::erase_if(found, [&](const ReplacedSite& site) {
      const auto isIn = [&](const std::set<std::size_t>& set) {
        return std::ranges::any_of(site.gone, [&](std::size_t place) { return set.contains(place); });
      };
      if ((isNamed && !isIn(chosen)) || isIn(taken)) return true;
      taken.insert(site.gone.begin(), site.gone.end());
      return false;
    });
    if (!looksOnly) m_names = std::move(names);
    return found;
  }

  Status raise(const AskedRule& asked) {
    const OpsetNeed need{.what = fmt::format("the rule {}", asked.rule->name), .otherwise = "leave the rule out"};
    RaisedFile raised = TRY(raisedTo(asked.rule->opset, m_file, need));
    settleRewritten(raised, raised.edits);
    raised.edits.opset = asked.rule->opset;
    m_result.notes.push_back(
        fmt::format("the opset is raised from {} to {} for the rule {}", opset(), asked.rule->opset, asked.rule->name));
    return write(raised.edits);
  }

  Status write(const onnxlib::NetworkEdits& edits) {
    const std::string weights = onnxlib::weightsNameOf(m_options.path);
    m_bytes = TRY(onnxlib::editNetwork(m_path, edits, weights));
    const std::filesystem::path folder = *m_folder / std::to_string(m_round++);
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    const std::filesystem::path path = folder / "network.onnx";
    TRY(onnxlib::writeNetworkAs(path, folder / weights, m_bytes));
    return take(path);
  }

  /// Returns the user's changes to inputs with the present names and order of axes of these inputs.
  std::vector<InputOverride> overrides() const {
    std::vector<InputOverride> given = givenExtents(m_artifact.plan->inputSpecs);
    for (InputOverride& input : given) {
      for (const auto& [from, to] : m_turned) {
        if (input.name != from) continue;
        input.name = to.first;
        for (auto* dims : {&input.min, &input.opt, &input.max})
          if (*dims) *dims = turned(**dims, to.second);
      }
    }
    return given;
  }

  static Dims turned(const Dims& dims, const std::vector<std::int64_t>& order) {
    Dims result;
    for (const std::int64_t axis : order) result.push_back(dims[static_cast<std::size_t>(axis)]);
    return result;
  }

  void record(const AskedRule& asked, const ReplacedSite& site) {
    Replacement replacement{.rule = std::string(asked.rule->name)};
    for (const std::size_t place : site.gone) {
      replacement.gone.push_back(listed(m_file.graph.nodes[place]));
      replacement.gone.back().name = m_model->origins[place].name;
    }
    for (const auto& node : site.made) replacement.made.push_back(listed(node));
    for (const std::size_t place : site.around) replacement.around.push_back(m_model->origins[place].name);
    if (!asked.rule->inverse.empty() && !site.at.empty())
      replacement.undo = fmt::format("{}@{}", asked.rule->inverse, site.at);
    m_turned.insert(m_turned.end(), site.turned.begin(), site.turned.end());
    m_result.replacements.push_back(std::move(replacement));
  }

  /// Keeps what the file says about the extents of an input, under its new name and in its new order of axes.
  void keepExtents(const ReplacedSite& site, onnxlib::NetworkEdits& edits) const {
    if (site.turned.empty()) return;
    edits.removedMetadata = {kExampleInputsKey};  // their axes have another order now
    const auto said = m_file.metadata.find(kInputSpecsKey);
    if (said == m_file.metadata.end()) return;
    if (const auto known = carriedInputsFromText(said->second); known.ok() && known.value().isNewer()) return;
    std::vector<InputSpec> specs = m_model->inputSpecs;
    for (InputSpec& spec : specs)
      for (const auto& [from, to] : site.turned) {
        if (spec.name != from) continue;
        spec.name = to.first;
        for (Dims* dims : {&spec.min, &spec.opt, &spec.max}) *dims = turned(*dims, to.second);
      }
    edits.metadata[std::string(kInputSpecsKey)] = inputSpecsText(specs);
  }

  /// Returns the options of the artifact that apply to the new network.
  Result<PlanOptions> optionsFor() {
    ApplicableOptions applicable = TRY(applicableOptions(*m_model, m_artifact.plan->options, m_options.run.stop));
    for (const auto& dropped : applicable.dropped)
      m_result.notes.push_back(
          fmt::format("{} does not apply to the new network: {}", optionText(dropped.directive), dropped.why));
    applicable.options.support.reset();
    return std::move(applicable.options);
  }

  Status comparePlans() {
    Artifact before = m_artifact;
    Artifact after = TRY(openArtifact(m_path, overrides(), TRY(optionsFor()), m_artifact.backend, m_options.run.stop));
    if (m_options.readsBack) {
      for (Artifact* side : {&before, &after})
        TRY(readBack(*side, buildOptions(*side, m_options.run.threads, m_options.run.stop, m_options.run.progress)));
    }
    const Cover &was = before.cover(), &is = after.cover();
    m_result.before = {std::ssize(was.fusedNodes), was.predictedMs};
    m_result.after = {std::ssize(is.fusedNodes), is.predictedMs};
    const FileKernels ofBefore(was), ofAfter(is);
    for (Replacement& replacement : m_result.replacements) {
      replacement.kernelsBefore = kernelsOfNodes(ofBefore, namesWith(replacement.gone, replacement.around));
      replacement.kernelsAfter = kernelsOfNodes(ofAfter, namesWith(replacement.made, replacement.around));
    }
    return m_options.seconds > 0 ? time(before, after) : Status(Done{});
  }

  /// Times both networks in turns, so that other work on the machine affects both equally.
  Status time(const Artifact& before, const Artifact& after) {
    const auto engineOf = [&](const Artifact& artifact, const std::map<std::string, Tensor>& inputs) {
      BuildOptions build = buildOptions(artifact, m_options.run.threads, m_options.run.stop, m_options.run.progress);
      build.shapes = extentsOf(inputs);
      return openEngine(artifact, build);
    };
    const std::map<std::string, Tensor> was = m_samples.first(), is = samplesNow().first();
    const auto a = TRY(engineOf(before, was)), b = TRY(engineOf(after, is));
    const TimeOptions options{.seconds = m_options.seconds / 2, .stop = m_options.run.stop};
    for (int turn = 0; turn < 2; ++turn)
      for (const auto& [engine, inputs, totals] :
           {std::tuple(a.get(), &was, &m_result.before), std::tuple(b.get(), &is, &m_result.after)}) {
        const TimeReport report = TRY(engine->time(*inputs, options));
        if (report.medianMs) totals->medianMs = std::min(totals->medianMs.value_or(*report.medianMs), *report.medianMs);
      }
    return Done{};
  }

  Samples samplesNow() const {
    Samples samples = m_samples;
    for (Sample& sample : samples.list)
      for (const auto& [from, to] : m_turned) {
        const auto found = sample.inputs.find(from);
        if (found == sample.inputs.end()) continue;
        Tensor moved = transposedTensor(found->second, to.second);
        sample.inputs.erase(found);
        sample.inputs.insert_or_assign(to.first, std::move(moved));
      }
    return samples;
  }

  static Tensor transposedTensor(const Tensor& tensor, const std::vector<std::int64_t>& order) {
    const std::size_t rank = order.size();
    const Dims& from = tensor.dims();
    const Dims dims = turned(from, order);
    Tensor result = Tensor::zeros(tensor.type(), dims);
    const std::size_t size = byteSize(tensor.type(), 1);
    std::vector<std::int64_t> strides(rank, 1);
    for (std::size_t axis = rank - 1; axis > 0; --axis) strides[axis - 1] = strides[axis] * from[axis];
    std::vector<std::int64_t> at(rank, 0);
    for (std::int64_t i = 0; i < result.count(); ++i) {
      std::int64_t source = 0;
      for (std::size_t axis = 0; axis < rank; ++axis)
        source += at[axis] * strides[static_cast<std::size_t>(order[axis])];
      std::copy_n(tensor.bytes() + source * static_cast<std::int64_t>(size), size,
                  result.mutableBytes() + i * static_cast<std::int64_t>(size));
      for (std::size_t axis = rank; axis-- > 0;) {
        if (++at[axis] < dims[axis]) break;
        at[axis] = 0;
      }
    }
    return result;
  }

  Status compareNumbers() {
    m_result.tolerance = m_options.tolerance;
    m_result.samples = m_samples.names();
    m_result.randomInputs = m_samples.random;
    const auto expected = TRY(runOnSamples(unquantized(m_artifact.plan->model), m_samples, m_options.run));
    const auto model = TRY(openModel(m_path, overrides(), m_options.run.stop));
    const auto given = TRY(runOnSamples(model, samplesNow(), m_options.run));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::map<std::string, Tensor> common = expected[i];
      std::erase_if(common, [&](const auto& entry) { return !given[i].contains(entry.first); });
      takeWorst(m_result.outputs, compareAll(given[i], common, m_options.tolerance));
    }
    if (std::ranges::none_of(m_result.outputs, &TensorComparison::isMeaningful))
      m_result.failedCheck =
          Diagnostic{.message = "on these inputs no output contains a finite number, so nothing was compared",
                     .help = "Nothing was written. Give inputs with --inputs for which the network has numbers."};
    if (auto apart = firstApart(m_result.outputs, "with the rules the network gives different numbers",
                                "Nothing was written. A larger difference can be allowed with --tol-rms."))
      m_result.failedCheck = std::move(*apart);
    return Done{};
  }

  const Artifact& m_artifact;
  const Samples& m_samples;
  const ReplaceOptions& m_options;
  std::shared_ptr<const TemporaryFolder> m_folder;
  std::filesystem::path m_source, m_path;  ///< the original network, and the present one
  std::shared_ptr<const Model> m_model;  ///< the present network, prepared, with the extents that the file leaves open
  onnxlib::FileModel m_file;             ///< of the present network
  onnxlib::NetworkBytes m_bytes;         ///< of the present network
  std::set<std::string> m_names;         ///< all names that were ever used
  /// ReplacedSite::turned of all sites, in the order in which the rules were applied.
  std::vector<std::pair<std::string, std::pair<std::string, std::vector<std::int64_t>>>> m_turned;
  int m_round = 0;
  ReplacedNetwork m_result;
};

Json nodesJson(const std::vector<ListedNode>& nodes) {
  Json json = Json::array();
  for (const ListedNode& node : nodes)
    json.push_back({{"name", node.name},
                    {"op", node.op},
                    {"domain", node.domain},
                    {"inputs", node.inputs},
                    {"outputs", node.outputs}});
  return json;
}

}  // namespace

Result<ReplacedNetwork> replaceIn(const Artifact& artifact, const std::vector<std::string>& rules,
                                  const Samples& samples, const ReplaceOptions& options) {
  return Replacing(artifact, samples, options).run(rules);
}

Json toJson(const ReplacedNetwork& network, const std::filesystem::path& path) {
  Json replacements = Json::array(), outputs = Json::array();
  for (const Replacement& replacement : network.replacements)
    replacements.push_back({{"rule", replacement.rule},
                            {"gone", nodesJson(replacement.gone)},
                            {"made", nodesJson(replacement.made)},
                            {"undo", replacement.undo.empty() ? Json() : Json(replacement.undo)},
                            {"kernels_before", replacement.kernelsBefore},
                            {"kernels_after", replacement.kernelsAfter}});
  for (const TensorComparison& output : network.outputs) outputs.push_back(toJson(output));
  return {
      {"format", "fusescope.replacement"},
      {"version", 1},
      {"path", path.string()},
      {"ok", !network.failedCheck.has_value()},
      {"replacements", std::move(replacements)},
      {"opset", {{"before", network.opsetBefore}, {"after", network.opsetAfter}}},
      {"kernels", {{"before", network.before.kernels}, {"after", network.after.kernels}}},
      {"predicted_ms",
       {{"before", optionalNumber(network.before.predictedMs)}, {"after", optionalNumber(network.after.predictedMs)}}},
      {"median_ms",
       {{"before", optionalNumber(network.before.medianMs)}, {"after", optionalNumber(network.after.medianMs)}}},
      {"outputs", std::move(outputs)},
      {"allowed", optionalNumber(network.tolerance.rms)},
      {"samples", network.samples},
      {"random_inputs", network.randomInputs},
      {"notes", network.notes}};
}

Json substitutionsJson() {
  Json rules = Json::array();
  for (const Substitution& rule : substitutions())
    rules.push_back({{"name", rule.name},
                     {"summary", rule.summary},
                     {"inverse", rule.inverse.empty() ? Json() : Json(rule.inverse)},
                     {"argument", rule.argument == RuleArgument::Value ? "value" : "nodes"},
                     {"opset", rule.opset}});
  return {{"format", "fusescope.rules"}, {"version", 1}, {"rules", std::move(rules)}};
}

}  // namespace fusescope
