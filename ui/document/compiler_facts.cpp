#include "ui/document/compiler_facts.h"

#include "compilers/probed/probed_compiler.h"
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
  for (const Compiler* compiler : allCompilers()) ask(std::string(compiler->name()));
}

void Compilers::ask(const std::string& name) {
  const Compiler* compiler = findCompiler(name);
  if (compiler == nullptr || compiler == &ownCompiler() || !m_asked.insert(name).second) return;
  const auto work = [compiler](const StopToken&) {
    CompilerFacts facts = askedFacts(*compiler);
    endIdleJobs();  // the worker compiles, in processes of its own
    return facts;
  };
  m_jobs.run(QStringLiteral("ask the compiler %1").arg(qs(name)), this, work, [this, name](const CompilerFacts& facts) {
    m_facts.insert_or_assign(name, facts);
    emit changed();
  });
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
