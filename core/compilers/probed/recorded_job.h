#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/mapped_file.h"
#include "compilers/compiler.h"

namespace fusescope {

/// The job whose result is used in place of a live compiler (NAME@RESULT.zip): where and when it ran. Such a compiler
/// starts nothing, and answers only what the job asked.
struct RecordedJob {
  FileIdentity file;
  std::string machine, platform, python;  ///< in the words of the machine on which it ran; not trusted
  std::string finished;                   ///< UTC, by the clock of that machine
  std::string version;                    ///< of the compiler; empty: it is not reported
  int threads = 1;                        ///< the number that the job asked for, otherwise the processors of that
                                          ///< machine
  std::set<std::string> ops;              ///< the operations that the job asked for
  Json asked;                             ///< notes of the program that packed the job; not trusted

  /// Returns a text like "measured on gpubox (Linux 6.1 x86_64) in the job that ended 2026-01-31T12:00:00Z".
  std::string inWords() const;
  /// Returns why the result does not contain this, as a sentence; empty if the job asked for it.
  std::string whyNot(Ability ability) const;
};

/// Returns whether the text after NAME@ is the result of a job file, and not an environment.
bool isJobResult(std::string_view environment);

/// Reads the facts about the job from a result. Errors: those of openJobResult(), and that it is from another compiler
/// than `kind`.
Result<RecordedJob> readRecordedJob(const std::string& path, std::string_view kind);

}  // namespace fusescope
