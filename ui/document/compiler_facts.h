#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <set>
#include <string>

#include "compilers/compiler.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// Returns what an ability means, as the rest of a sentence after "can": "run a network", …
QString abilityWords(Ability ability);

/// What a compiler reports about itself on this machine.
struct CompilerFacts {
  CompilerIdentity identity;
  std::map<Ability, std::string> cannot;  ///< for each ability that it lacks, the reason
};

/// The compilers of this program and what they report about themselves. Our own is known at once; others may have to
/// start a process, and are asked on other threads when this is needed. It is used on the GUI thread only.
class Compilers : public QObject {
  Q_OBJECT

 public:
  explicit Compilers(QObject* parent = nullptr);
  /// Asks the compilers that were not asked yet.
  void ask();
  /// Asks one of them, or one in an environment ("onnxruntime@venv"), by its name for findCompiler().
  void ask(const std::string& name);
  /// Asks all that were asked before again, because environments may have changed.
  void askAgain();
  /// Returns the facts; null if it was not asked yet or has not answered.
  const CompilerFacts* facts(std::string_view name) const;
  /// Returns "onnxruntime 1.20"; only the name while it is being asked.
  QString title(std::string_view name) const;
  /// Returns why the compiler of this name cannot do this, as a sentence; empty if it can. A compiler that is not known
  /// yet cannot.
  QString whyNot(std::string_view name, Ability ability) const;

 signals:
  void changed();  ///< another compiler has answered

 private:
  std::set<std::string, std::less<>> m_asked;
  std::map<std::string, CompilerFacts, std::less<>> m_facts;
  JobRunner m_jobs;  ///< has its own threads, because a compiler may take long to answer
};

}  // namespace fusescope
