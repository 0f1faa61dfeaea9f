#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <set>
#include <string>

#include "compilers/compiler.h"

namespace fusescope {

class JobRunner;

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
  explicit Compilers(JobRunner& jobs, QObject* parent = nullptr);
  /// Asks those that were not asked yet.
  void ask();
  /// Asks one, which may be in an environment that ask() does not know: "onnxruntime@gpubox". An unknown one is nobody.
  void ask(const std::string& name);
  /// "onnxruntime 1.20"; its name alone while it is being asked.
  QString title(std::string_view name) const;
  /// Why the compiler of this name cannot do this, as a sentence; empty: it can. One that is not known yet cannot.
  QString whyNot(std::string_view name, Ability ability) const;

 signals:
  void changed();  ///< another one has answered

 private:
  JobRunner& m_jobs;
  std::set<std::string> m_asked;
  std::map<std::string, CompilerFacts, std::less<>> m_facts;
};

}  // namespace fusescope
