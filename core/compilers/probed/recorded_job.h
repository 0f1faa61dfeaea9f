#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/mapped_file.h"
#include "compilers/compiler.h"

namespace fusescope {

/// The job whose result is used in place of a compiler (NAME@RESULT.zip): where and when it ran. Such a compiler starts
/// nothing, and answers only what the job asked for.
struct RecordedJob {
  FileIdentity file;
  std::string machine, platform, python;  ///< in the words of the machine where it ran; not trusted
  std::string finished;                   ///< UTC, by the clock there
  std::string version;                    ///< of the compiler; empty: it does not say
  int threads = 1;                        ///< that the job asked for, else the processors there
  std::set<std::string> ops;              ///< the operations that the job asked for
  Json asked;                             ///< notes of the program that packed the job; not trusted

  /// "measured on gpubox (Linux 6.1 x86_64) in the job that ended 2026-01-31T12:00:00Z".
  std::string inWords() const;
  /// Why it does not tell this, as a sentence; empty: the job asked for it.
  std::string whyNot(Ability ability) const;
};

/// Whether what stands behind NAME@ is the result of a job file, and not an environment.
bool isJobResult(std::string_view environment);

/// Reads what a result says of itself. Errors: those of openJobResult(), and that it is another compiler's than `kind`.
Result<RecordedJob> readRecordedJob(const std::string& path, std::string_view kind);

/// The job whose result stands for `compiler`; nothing: the compiler answers live, or the result cannot be opened.
std::optional<RecordedJob> recordedJobOf(const Compiler& compiler);

}  // namespace fusescope
