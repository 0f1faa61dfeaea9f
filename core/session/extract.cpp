#include "session/extract.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "interchange/export_steps.h"
#include "interchange/npz.h"
#include "onnxlib/edited_network.h"
#include "planning/applicable_options.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "planning/patterns/match_pattern.h"
#include "session/open_model.h"

namespace fusescope {
namespace {

using SampleValues = std::map<std::string, Tensor>;

/// Returns the arrays of one sample. Names that are on both sides of the part get the prefixes `in:` and `out:`.
NpzArrays arraysOf(const NetworkPart& part, const SampleValues& values) {
  NpzArrays arrays;
  for (const std::string& name : part.inputs) arrays["in:" + name] = values.at(name);
  for (const std::string& name : part.outputs)
    if (const auto found = values.find(name); found != values.end()) arrays["out:" + name] = found->second;
  return arrays;
}

class Extraction {
 public:
  Extraction(const NetworkCutter& cutter, const Plan& plan, const NetworkPart& part, const Samples* samples,
             const ExtractOptions& options)
      : m_cutter(cutter), m_plan(plan), m_part(part), m_given(samples), m_options(options) {}

  Result<ExtractedPart> run() {
    const auto folder = TRY(folderBeside(m_options.path, "extracting"));
    if (const Status made = make(folder.path()); !made.ok())
      return located(made.error(), folder.path(), m_cutter.source());
    TRY(keepDirectives());
    describe();
    prepareFiles();
    return std::move(m_result);
  }

 private:
  Status make(const std::filesystem::path& folder) {
    TRY(record(folder));
    TRY(checkTensors());
    TRY(cut(folder));
    return m_result.whyNoValues.empty() ? compare() : Status(Done{});
  }

  Status record(const std::filesystem::path& folder) {
    std::vector<std::string> values = m_part.inputs;
    values.insert(values.end(), m_part.outputs.begin(), m_part.outputs.end());
    const auto with = [&](const Samples* samples) {
      return recordValues(m_cutter, m_plan, values, samples, folder, m_options.run);
    };
    auto recorded = with(m_given);
    if (!recorded.ok() && !recorded.error().cancelled && m_given != nullptr && m_given->random) {
      m_result.whyNoValues = located(recorded.error(), folder, m_cutter.source()).text();
      recorded = with(nullptr);
    } else if (m_given == nullptr) {
      m_result.whyNoValues = "the network cannot be run";
    }
    m_recorded = TRY(std::move(recorded));
    return Done{};
  }

  Status checkTensors() const {
    for (const std::string& input : m_part.inputs) {
      if (std::ranges::find(m_recorded.unknown, input) == m_recorded.unknown.end()) continue;
      return Diagnostic{
          .message = "the part reads a sequence or an optional value here, but a .npz file can contain only tensors",
          .where = {.value = input},
          .help = "Let the part begin before the node that calculates it."};
    }
    return Done{};
  }

  Status cut(const std::filesystem::path& folder) {
    const std::vector<InputSpec> specs = inputExtents(m_recorded, m_part);
    const std::string weights = onnxlib::weightsNameOf(m_options.path);
    m_bytes = TRY(m_cutter.cut(m_part, m_recorded.types, specs, weights));
    TRY(checkNotWrittenOver(m_options.path, m_plan, m_bytes));
    const std::filesystem::path path = folder / "part.onnx";
    TRY(onnxlib::writeNetworkAs(path, path.parent_path() / weights, m_bytes));
    // The checker needs the types of the outputs, which are not always known if the network cannot be run.
    if (m_result.whyNoValues.empty()) TRY(checkByOnnx(path, m_cutter.source()));
    m_model = TRY(openModel(path, {}, m_options.run.stop));
    return Done{};
  }

  /// Runs the part on the recorded inputs and compares its results with those of the whole network.
  Status compare() {
    Samples samples;
    for (std::size_t i = 0; i < m_recorded.samples.size(); ++i) {
      Sample sample{.name = m_given->list[i].name, .inputs = {}};
      for (const std::string& input : m_part.inputs) sample.inputs[input] = m_recorded.samples[i].at(input);
      samples.list.push_back(std::move(sample));
    }
    const auto results = TRY(runOnSamples(m_model, samples, m_options.run));
    m_result.identical = true;
    for (std::size_t i = 0; i < results.size(); ++i) {
      SampleValues expected;
      for (const std::string& output : m_part.outputs)
        if (m_recorded.samples[i].contains(output)) expected[output] = m_recorded.samples[i].at(output);
      for (const auto& [name, tensor] : expected) {
        const auto found = results[i].find(name);
        m_result.identical &=
            found != results[i].end() && tensor.container() == Container::None && found->second.identical(tensor);
      }
      takeWorst(m_result.outputsAgainstWhole, compareAll(results[i], expected, Tolerance::standard()));
    }
    if (!m_part.outputs.empty() && std::ranges::none_of(m_result.outputsAgainstWhole, &TensorComparison::isMeaningful))
      m_result.notes.push_back(
          "no output of the part contains a finite number, so nothing was compared with the whole network");
    if (auto apart = firstApart(m_result.outputsAgainstWhole, "the part gives different numbers than the whole network",
                                "Nothing was written."))
      return std::move(*apart);
    return Done{};
  }

  Status keepDirectives() {
    const ApplicableOptions applicable = TRY(applicableOptions(*m_model, m_plan.options, m_options.run.stop));
    for (const auto& dropped : applicable.dropped) m_result.leftOut.push_back(dropped.directive);
    m_result.directives = applicable.options.directives;
    PatternMatcher part(*m_model), whole(m_cutter.model());
    for (const Directive& directive : m_result.directives) {
      if (formOf(directive).pattern == PatternUse::None || directive.pattern.empty()) continue;
      const auto count = [&](PatternMatcher& matcher) -> Result<std::int64_t> {
        const PatternMatch match = TRY(matcher.match(directive.pattern, m_options.run.stop));
        return std::ssize(match.nodes) + std::ssize(match.inBodies);
      };
      const std::int64_t here = TRY(count(part));
      const auto there = count(whole);
      if (there.ok() && there.value() > here)
        m_result.notes.push_back(fmt::format("{} names {} of the part and {} of the whole", optionText(directive),
                                             counted(here, "node"), counted(there.value(), "node")));
    }
    return Done{};
  }

  void describe() {
    m_result.nodes = m_cutter.nodeNames(m_part.nodes);
    m_result.constantNodes = m_cutter.nodeNames(m_part.constantNodes);
    for (const std::string& name : m_part.inputs) m_result.inputs.push_back({name, m_recorded.types.at(name)});
    for (const std::string& name : m_part.outputs) m_result.outputs.push_back({name, m_recorded.types.at(name)});
    m_result.frozen = m_part.frozen;
    if (m_given != nullptr) m_result.randomInputs = m_given->random;
    if (m_result.whyNoValues.empty()) m_result.samples = m_given->names();
    for (const std::string& name : m_recorded.unknown)
      m_result.notes.push_back(fmt::format("'{}' is not a tensor, so its values are in no file", name));
    if (m_plan.options.ranges != nullptr)
      m_result.notes.push_back(
          "ranges belong to values, which keep their names: give the file of --ranges with the part, too");
  }

  bool asksForSomething() const {
    const PlanOptions& options = m_plan.options;
    return !m_result.directives.empty() || !options.precisions.empty() || options.target != PlanOptions().target ||
           options.workspaceBytes != 0 || options.weightOnly.type != DataType::Undefined;
  }

  /// Returns whether the file exists. It then belongs to an earlier part of that name, because this part does not write
  /// it.
  bool noteLeft(const std::filesystem::path& file) {
    std::error_code none;
    if (!std::filesystem::exists(file, none)) return false;
    m_result.left.push_back(file);
    return true;
  }

  void prepareFiles() {
    const std::filesystem::path& path = m_options.path;
    std::vector<NpzArrays> values;
    m_result.files = {path};
    if (!m_bytes.weights.empty()) m_result.files.push_back(path.parent_path() / onnxlib::weightsNameOf(path));
    if (m_result.whyNoValues.empty())
      for (const SampleValues& sample : m_recorded.samples) {
        m_result.files.push_back(valuesPathOf(path, values.size()));
        values.push_back(arraysOf(m_part, sample));
      }
    std::string directives;
    if (asksForSomething()) {
      PlanOptions options = m_plan.options;
      options.directives = m_result.directives;
      directives = toJson(directivesFileOf(options)).dump(2) + "\n";
      m_result.files.push_back(directivesPathOf(path));
    } else {
      noteLeft(directivesPathOf(path));
    }
    for (std::size_t i = values.size(); noteLeft(valuesPathOf(path, i)); ++i) {
    }
    m_result.save = [path, bytes = m_bytes, values = std::move(values), directives]() -> Status {
      TRY(onnxlib::writeNetwork(path, bytes));
      for (std::size_t i = 0; i < values.size(); ++i) TRY(writeNpz(valuesPathOf(path, i), values[i]));
      if (!directives.empty()) TRY(writeFileAtomically(directivesPathOf(path), directives));
      return Done{};
    };
  }

  const NetworkCutter& m_cutter;
  const Plan& m_plan;
  const NetworkPart& m_part;
  const Samples* m_given;
  const ExtractOptions& m_options;
  RecordedValues m_recorded;
  onnxlib::NetworkBytes m_bytes;
  std::shared_ptr<const Model> m_model;  ///< the model of the part
  ExtractedPart m_result;
};

Json valuesJson(const std::vector<PartValue>& values) {
  Json json = Json::array();
  for (const PartValue& value : values) json.push_back({{"name", value.name}, {"type", value.type.text()}});
  return json;
}

}  // namespace

Result<ExtractedPart> extractPart(const Artifact& artifact, const PartSelection& selection, const Samples* samples,
                                  const ExtractOptions& options) {
  const NetworkCutter cutter = TRY(NetworkCutter::open(*artifact.plan, options.run.stop));
  const NetworkPart part = TRY(chosenPart(cutter, artifact.cover(), selection, options.run.stop));
  return extractPart(cutter, *artifact.plan, part, samples, options);
}

Result<ExtractedPart> extractPart(const NetworkCutter& cutter, const Plan& plan, const NetworkPart& part,
                                  const Samples* samples, const ExtractOptions& options) {
  return Extraction(cutter, plan, part, samples, options).run();
}

std::filesystem::path valuesPathOf(const std::filesystem::path& path, std::size_t index) {
  const std::string stem = path.stem().string();
  return path.parent_path() / (index == 0 ? stem + ".npz" : fmt::format("{}_{}.npz", stem, index + 1));
}

std::filesystem::path directivesPathOf(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + ".directives.json");
}

Json toJson(const ExtractedPart& part, const std::filesystem::path& path) {
  Json against = Json::array(), files = Json::array(), before = Json::array();
  Json kept = Json::array(), left = Json::array();
  for (const TensorComparison& output : part.outputsAgainstWhole) against.push_back(toJson(output));
  for (const auto& file : part.files) files.push_back(file.string());
  for (const auto& file : part.left) before.push_back(file.string());
  for (const Directive& directive : part.directives) kept.push_back(optionText(directive));
  for (const Directive& directive : part.leftOut) left.push_back(optionText(directive));
  return {{"format", "fusescope.part"},
          {"version", 1},
          {"path", path.string()},
          {"nodes", part.nodes},
          {"go_along", part.constantNodes},
          {"inputs", valuesJson(part.inputs)},
          {"outputs", valuesJson(part.outputs)},
          {"frozen", part.frozen},
          {"samples", part.samples},
          {"random_inputs", part.randomInputs},
          {"why_no_values", part.whyNoValues.empty() ? Json() : Json(part.whyNoValues)},
          {"identical", part.whyNoValues.empty() ? Json(part.identical) : Json()},
          {"against_whole", std::move(against)},
          {"directives", std::move(kept)},
          {"left_out", std::move(left)},
          {"notes", part.notes},
          {"files", std::move(files)},
          {"left_files", std::move(before)}};
}

}  // namespace fusescope
