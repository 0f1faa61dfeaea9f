#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <set>
#include <string>

#include "compilers/compiler.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

/// What it is to be able to do this, behind "can": "run a network", …
QString abilityWords(Ability ability);

/// What a compiler says of itself on this machine. A value.
struct CompilerFacts {
  CompilerIdentity identity;
  std::map<Ability, std::string> cannot;  ///< why it cannot do what it cannot do
};

/// The compilers of this program and what they say of themselves. Our own is known at once; the others may have to
/// start something, and are asked elsewhere once somebody wants to know. GUI thread only.
class Compilers : public QObject {
  Q_OBJECT

 public:
  explicit Compilers(QObject* parent = nullptr);
  /// Asks those that were not asked yet.
  void ask();
  /// The same of one of them, or of one in an environment ("onnxruntime@venv"), by the name that findCompiler() takes.
  void ask(const std::string& name);
  /// What is where may be otherwise now: those who were asked are asked again.
  void askAgain();
  /// What it said of itself; null: it was not asked yet, or has not answered.
  const CompilerFacts* facts(std::string_view name) const;
  /// "onnxruntime 1.20"; its name alone while it is being asked.
  QString title(std::string_view name) const;
  /// Why the compiler of this name cannot do this, as a sentence; empty: it can. One that is not known yet cannot.
  QString whyNot(std::string_view name, Ability ability) const;

 signals:
  void changed();  ///< another one has answered

 private:
  std::set<std::string, std::less<>> m_asked;
  std::map<std::string, CompilerFacts, std::less<>> m_facts;
  JobRunner m_jobs;  ///< threads of its own: a compiler may take long to answer
};

}  // namespace fusescope
