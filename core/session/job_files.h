#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/job_requests.h"
#include "compilers/probed/recorded_job.h"
#include "session/artifact.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"
#include "session/model_file.h"
#include "session/open_model.h"

namespace fusescope {

// Job files replace a connection to the machine with a compiler; see core/probe/PROTOCOL.md.

/// What a job was packed for. This is stored in the job and returned with its result.
struct JobDescription {
  ModelFile model;
  std::vector<InputOverride> extents;
  PlanOptions options;  ///< `compiler` is only its name, because whoever runs the job decides where it is
  SampleSource inputs;
  JobQuestions questions;
  bool operator==(const JobDescription&) const = default;
};
Json toJson(const JobDescription& description);
Result<JobDescription> jobDescriptionFromJson(const Json& json);

/// Returns the names that `--do` accepts: "plan", "run", "time", "profile".
const std::vector<std::string_view>& jobQuestionNames();
/// Parses "plan,time,run". Errors: an unknown name (the nearest is suggested).
Result<JobQuestions> parseJobQuestions(std::string_view text);
std::vector<std::string> namesOf(const JobQuestions& questions);

struct PackedJob {
  std::string id;
  std::size_t requests = 0;  ///< without the one that opens the compiler
  std::int64_t bytes = 0;    ///< size of the file
};
/// Writes a job for the model at `path`, completely or not at all. It starts nothing: the compiler need not be on this
/// machine. `description.model` is set by this function. Errors: those of opening and planning, of inputs, of
/// jobRequests(); a compiler that no probe reaches.
Result<PackedJob> packModel(const std::filesystem::path& path, JobDescription description,
                            const std::filesystem::path& job, const StopToken& stop = {},
                            const Progress& progress = {});

/// The contents of a job's result before anything is planned.
struct OpenedJob {
  JobDescription description;  ///< `options.compiler` is NAME@RESULT, which gives the recorded answers
  RecordedJob recorded;
  std::string compiler;  ///< only the name
};
/// Reads a result. `model` is the present path of the network; empty: its path when the job was packed. Nothing from
/// the result is run. Errors: it is not a result, is damaged, or is from another version of Fusescope; its compiler
/// could not be opened there; the network does not exist, or is another one.
Result<OpenedJob> openJob(const std::filesystem::path& result, const std::filesystem::path& model);

/// Plans the network of a job and reads back what the compiler made of it.
Result<Artifact> readBackJob(const OpenedJob& job, const StopToken& stop = {}, const Progress& progress = {});

/// Returns {file, compiler, version, machine, platform, python, finished, do[], threads}.
Json toJson(const OpenedJob& job);

}  // namespace fusescope
