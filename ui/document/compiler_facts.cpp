#include "ui/document/compiler_facts.h"

#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"
#include "ui/jobs/job_runner.h"

namespace fusescope {

namespace {

CompilerFacts askedFacts(const Compiler& compiler) {
  CompilerFacts facts{.identity = compiler.identity(), .cannot = {}};
  for (const Ability ability : allAbilities())
    if (std::string why = compiler.whyNot(ability); !why.empty()) facts.cannot.emplace(ability, std::move(why));
  return facts;
}

}  // namespace

Compilers::Compilers(JobRunner& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
  m_facts.emplace(ownCompiler().name(), askedFacts(ownCompiler()));
}

void Compilers::ask() {
  if (std::exchange(m_asked, true)) return;
  for (const Compiler* compiler : allCompilers()) {
    if (compiler == &ownCompiler()) continue;
    m_jobs.run(
        QStringLiteral("ask the compiler %1").arg(qs(compiler->name())), this,
        [compiler](const StopToken&) { return askedFacts(*compiler); },
        [this, compiler](const CompilerFacts& facts) {
          m_facts.insert_or_assign(std::string(compiler->name()), facts);
          emit changed();
        });
  }
}

QString Compilers::title(std::string_view name) const {
  const auto known = m_facts.find(name);
  return known == m_facts.end() ? qs(name) : compilerTitle(known->second.identity);
}

QString Compilers::whyNot(std::string_view name, Ability ability) const {
  if (findCompiler(name) == nullptr) return QStringLiteral("This program has no compiler %1.").arg(qs(name));
  const auto known = m_facts.find(name);
  if (known == m_facts.end()) return QStringLiteral("%1 is being asked what it can do.").arg(qs(name));
  const auto cannot = known->second.cannot.find(ability);
  return cannot == known->second.cannot.end() ? QString() : qs(cannot->second);
}

}  // namespace fusescope
