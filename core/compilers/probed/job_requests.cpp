#include "compilers/probed/job_requests.h"

#include <fmt/format.h>

#include <utility>

#include "compilers/network_parts.h"
#include "compilers/probed/handed_values.h"

namespace fusescope {
namespace {

constexpr int kProfiledRuns = 30;

class Asking {
 public:
  Asking(const ProbedKind& kind, std::shared_ptr<const Plan> plan, const JobQuestions& questions, const StopToken& stop,
         JobRequests& made)
      : m_kind(kind), m_plan(std::move(plan)), m_questions(questions), m_stop(stop), m_made(made) {}

  /// Adds the request that ProbedCompiler::support() would make.
  Status support() {
    CompilerInput network = TRY(makeCompilerInput(m_plan, m_kind.inputTypesFor(*m_plan), m_stop));
    const Json options = TRY(m_kind.requestOptions(network, {}));
    add({{"op", "support"}, {"options", options}}, filesOf(network));
    m_made.networks.push_back(std::move(network));
    return Done{};
  }

  /// Adds the request that ProbedEngine would make for the part of a segment.
  Status compile(const Segment& segment, const std::map<std::string, Dims>& extents) {
    const Part part = TRY(segmentPart(m_plan, segment, extents, m_stop));
    CompilerInput network = TRY(makeCompilerInput(part.plan, m_kind.inputTypesFor(*part.plan), m_stop));
    BuildOptions options{.threads = m_questions.threads};
    if (m_plan->segments.size() == 1) options.shapes = extents;
    const Json asked = TRY(m_kind.requestOptions(network, options));
    add({{"op", "compile"}, {"options", asked}}, filesOf(network));
    m_made.networks.push_back(std::move(network));
    return Done{};
  }

  Status run(std::span<const std::map<std::string, Tensor>> samples) {
    const NamesInFile names = handedInputs(m_made.networks.back());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      TRY(checkStop(m_stop));
      const std::filesystem::path path = m_made.folder / fmt::format("inputs_{}.npz", i);
      TRY(writeHandedInputs(names, samples[i], path));
      const std::map<std::string, std::filesystem::path> inputs{{"inputs.npz", path}};
      if (m_questions.run) add({{"op", "run"}}, inputs);
      if (i > 0) continue;
      if (m_questions.time)
        add({{"op", "time"}, {"seconds", m_questions.seconds}, {"warmup_seconds", m_questions.warmupSeconds}}, inputs);
      if (m_questions.profile) add({{"op", "profile"}, {"runs", kProfiledRuns}}, inputs);
    }
    return Done{};
  }

 private:
  void add(Json json, std::map<std::string, std::filesystem::path> files) {
    m_made.requests.push_back({.json = std::move(json), .files = std::move(files)});
  }

  const ProbedKind& m_kind;
  const std::shared_ptr<const Plan> m_plan;
  const JobQuestions& m_questions;
  const StopToken& m_stop;
  JobRequests& m_made;
};

}  // namespace

Result<JobRequests> jobRequests(const ProbedKind& kind, const std::shared_ptr<const Plan>& plan,
                                const std::map<std::string, Dims>& extents,
                                std::span<const std::map<std::string, Tensor>> samples, const JobQuestions& questions,
                                const StopToken& stop) {
  JobRequests made{.folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope.job"))};
  Asking asking(kind, plan, questions, stop, made);
  const bool runs = questions.run || questions.time || questions.profile;
  if (runs && plan->segments.size() != 1)
    return Diagnostic{
        .message = fmt::format("the plan has {} segments, and the tensors between them are known only while they run, "
                               "so a job cannot run or time them",
                               plan->segments.size()),
        .where = {.file = plan->model->path, .attribute = "--do"},
        .help = "Pack a job that only compiles (--do plan), or extract the part that the compiler is to run."};
  if (kind.saysSupport()) TRY(asking.support());
  bool isAny = false;
  for (const Segment& segment : plan->segments) {
    if (segment.kind == SegmentKind::Fallback) continue;
    TRY(asking.compile(segment, extents));
    isAny = true;
  }
  if (!isAny)
    return Diagnostic{
        .message = fmt::format("{} would compile no part of this network: all nodes fall back to our own engine",
                               kind.title()),
        .where = {.file = plan->model->path}};
  if (runs) TRY(asking.run(samples));
  return made;
}

}  // namespace fusescope
