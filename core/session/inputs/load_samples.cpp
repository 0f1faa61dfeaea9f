#include "session/inputs/load_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "session/inputs/cut_samples.h"
#include "session/inputs/input_files.h"
#include "session/inputs/random_inputs.h"

namespace fusescope {
namespace {

bool hasUnknownExtents(const InputSpec& spec) {
  return std::ranges::any_of(spec.opt, [](std::int64_t extent) { return extent < 0; });
}

/// Returns an error for extents that could not even be assumed; the decision about them says why.
Status checkExtentsKnown(const Plan& plan) {
  for (const InputSpec& spec : plan.inputSpecs) {
    if (!hasUnknownExtents(spec)) continue;
    const auto why = std::ranges::find_if(plan.model->decisions, [&](const Decision& decision) {
      return decision.code == "input.not_assumed" && decision.subjects.front().text() == spec.name;
    });
    Diagnostic error{.message = "its extents are not known", .where = {.file = plan.model->path, .value = spec.name}};
    error.help = why == plan.model->decisions.end() ? "Give --input " + spec.name + "=DIMS." : message(*why) + ".";
    return error;
  }
  return Done{};
}

Diagnostic inFile(Diagnostic error, const std::string& file) {
  if (error.where.file.empty()) error.where.file = file;
  return error;
}

/// Reads the files at several paths into samples.
class Reader {
 public:
  Reader(const Plan& plan, const SampleSource& source) : m_plan(plan), m_source(source) {}

  Result<Samples> read() {
    for (const std::string& path : m_source.paths) {
      if (isSingleInputFile(path)) {
        TRY(addSingle(path));
        continue;
      }
      TRY(endSingles());
      for (const Sample& sample : TRY(readSamples(m_plan, path))) TRY(add(sample, path));
    }
    TRY(endSingles());
    return std::move(m_samples);
  }

 private:
  Status addSingle(const std::string& path) {
    auto [name, value] = TRY(readSingleInput(m_plan, path));
    if (m_singles.inputs.contains(name)) TRY(endSingles());
    if (m_singles.inputs.empty()) {
      m_singles.name = std::filesystem::path(path).stem().string();
      m_singlesFile = path;
    }
    m_singles.inputs.emplace(name, std::move(value));
    return Done{};
  }

  Status endSingles() {
    if (m_singles.inputs.empty()) return Done{};
    TRY(add(m_singles, m_singlesFile));
    m_singles = {};
    return Done{};
  }

  /// Cuts the sample and checks it. Errors name `file`.
  Status add(const Sample& sample, const std::string& file) {
    std::vector<Sample> parts{sample};
    if (m_source.batchAxis) {
      auto cut = cutSample(m_plan, sample, *m_source.batchAxis);
      if (!cut.ok()) return inFile(std::move(cut).error(), file);
      parts = std::move(cut).value();
    }
    for (Sample& part : parts) {
      if (auto checked = checkInputs(m_plan, part.inputs); !checked.ok())
        return inFile(std::move(checked).error(), file);
      part.name = unusedName(part.name);
      m_samples.list.push_back(std::move(part));
    }
    return Done{};
  }

  std::string unusedName(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !m_names.insert(name).second; ++i) name = fmt::format("{}#{}", wanted, i);
    return name;
  }

  const Plan& m_plan;
  const SampleSource& m_source;
  Samples m_samples;
  Sample m_singles;  ///< the .npy and .pb files that together form one sample
  std::string m_singlesFile;
  std::set<std::string> m_names;
};

}  // namespace

Result<Samples> loadSamples(const Plan& plan, const SampleSource& source) {
  if (!source.empty()) return Reader(plan, source).read();
  TRY(checkExtentsKnown(plan));
  return Samples{.list = {{"random", randomInputs(plan)}}, .random = true};
}

std::optional<Samples> carriedSamples(const Plan& plan, const SampleSource& given, std::string& whyNot) {
  const MappedFiles& files = unquantized(plan.model)->files;
  if (!given.empty() || given.batchAxis || files.empty()) return std::nullopt;
  const std::string& path = files.front()->identity().path;
  const auto taken = [&]() -> Result<std::optional<Sample>> {
    auto sample = TRY(carriedSample(plan));
    if (sample) TRY(checkInputs(plan, sample->inputs));
    return sample;
  };
  auto sample = taken();
  if (!sample.ok()) whyNot = inFile(std::move(sample).error(), path).text();
  if (!sample.ok() || !sample.value()) return std::nullopt;
  return Samples{.list = {*std::move(sample).value()}, .carriedIn = path};
}

SampleSource orCarried(const SampleSource& source, const Plan& plan, std::string& whyNot) {
  const auto carried = carriedSamples(plan, source, whyNot);
  return carried ? SampleSource{.paths = {carried->carriedIn}} : source;
}

Result<Samples> loadSamplesOrCarried(const Plan& plan, const SampleSource& source, std::string& whyNot) {
  if (auto carried = carriedSamples(plan, source, whyNot)) return *std::move(carried);
  return loadSamples(plan, source);
}

}  // namespace fusescope
