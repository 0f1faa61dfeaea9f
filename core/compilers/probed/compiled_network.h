#pragma once

#include <memory>
#include <vector>

#include "compilers/probed/probed_compiler.h"

namespace fusescope {

/// A compiled network and the process that contains it, for one engine or for several engines whose networks are
/// equal. It is used by one thread at a time.
class CompiledNetwork {
 public:
  /// `network` is what the process is given; it is only used for its size.
  CompiledNetwork(const ProbedCompiler& compiler, std::shared_ptr<const CompilerInput> network)
      : m_compiler(compiler), m_network(std::move(network)) {}
  /// Gives the process back to the compiler for the next network, unless this network is large.
  ~CompiledNetwork();
  CompiledNetwork(const CompiledNetwork&) = delete;
  CompiledNetwork& operator=(const CompiledNetwork&) = delete;

  /// Used instead of `job` as long as only read-back results are needed: kept answers. It is null as soon as the
  /// network is to run.
  std::unique_ptr<KeptJob> kept;
  std::unique_ptr<ProbeJob> job;
  Json request;                                   ///< with which it was compiled
  ProbeAnswer compiled;                           ///< the answer to `request`
  std::vector<TemporaryFolder> folders;           ///< the files of `compiled`, if it is a kept answer without a job
  std::shared_ptr<const TemporaryFolder> loaded;  ///< the files that `job` loaded instead of compiling

  /// From now on, questions go to the process and no longer to kept answers.
  void run();
  /// Ends the process early if nobody will run the network; the results of compilation stay known.
  void letGo();
  /// Returns the process that is asked about what was compiled. It must be there.
  ProbeJob& answering() const { return kept != nullptr ? static_cast<ProbeJob&>(*kept) : *job; }
  /// Returns whether `compiled` is the answer to `asked` about `network` as well: the same request, which may also have
  /// prepared for `values`, and files of the same names with the same bytes. Files are read unless they are weights
  /// from the same parts of the same files. A file that cannot be read is not the same.
  bool answers(const Json& asked, const CompilerInput& network) const;

 private:
  const ProbedCompiler& m_compiler;
  std::shared_ptr<const CompilerInput> m_network;
};

}  // namespace fusescope
