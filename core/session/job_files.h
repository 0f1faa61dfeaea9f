#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/job_requests.h"
#include "compilers/probed/recorded_job.h"
#include "session/model_file.h"
#include "session/samples.h"
#include "session/session.h"

namespace fusescope {

// Job files: what takes the place of a connection to a machine where a compiler is. core/probe/PROTOCOL.md.

/// What a job was packed for. It is written into the job and comes back with its result.
struct JobWishes {
  ModelFile model;
  std::vector<InputOverride> extents;
  PlanOptions options;  ///< `compiler`: the name alone, for whoever runs the job says where it is
  SampleSource inputs;
  JobQuestions questions;
  bool operator==(const JobWishes&) const = default;
};
Json toJson(const JobWishes& wishes);
Result<JobWishes> jobWishesFromJson(const Json& json);

/// "plan", "run", "time", "profile": what `--do` may name.
const std::vector<std::string_view>& jobQuestionNames();
/// "plan,time,run". Errors: an unknown name, with the nearest.
Result<JobQuestions> parseJobQuestions(std::string_view text);
std::vector<std::string> namesOf(const JobQuestions& questions);

struct PackedJob {
  std::string id;
  std::size_t requests = 0;  ///< after the compiler was opened
  std::int64_t bytes = 0;    ///< of the file
};
/// Writes a job for the model at `path`, whole or not at all. Starts nothing: the compiler need not be here.
/// `wishes.model` is set. Errors: those of opening and planning, of inputs, of jobRequests(); a compiler that no probe
/// reaches.
Result<PackedJob> packModel(const std::filesystem::path& path, JobWishes wishes, const std::filesystem::path& job,
                            const StopToken& stop = {}, const Progress& progress = {});

/// What the result of a job says, before anything is planned.
struct OpenedJob {
  JobWishes wishes;  ///< `options.compiler` is NAME@RESULT, which answers as the compiler did there
  RecordedJob recorded;
  std::string compiler;  ///< its name alone
};
/// Reads what a result says. `model`: where the network lies now; empty: where it lay when the job was packed. Nothing
/// of a result is run. Errors: it is no result, damaged, of another Fusescope; its compiler could not be opened there;
/// the network is not there, or another one.
Result<OpenedJob> openJob(const std::filesystem::path& result, const std::filesystem::path& model);

/// Plans the network of a job and reads back what the compiler made of it there.
Result<Artifact> readBackJob(const OpenedJob& job, const StopToken& stop = {}, const Progress& progress = {});

/// {file, compiler, version, machine, platform, python, finished, do[], threads}.
Json toJson(const OpenedJob& job);

}  // namespace fusescope
