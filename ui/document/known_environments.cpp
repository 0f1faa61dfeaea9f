#include "ui/document/known_environments.h"

#include <algorithm>
#include <utility>

#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kListTag = QStringLiteral("list environments");
const QString kNewTag = QStringLiteral("try a new environment");

QString lookTag(const std::string& name) {
  return QStringLiteral("look into environment ") + qs(name);
}

struct Listed {
  std::vector<KnownEnvironment> all;
  QString problem;
};

Listed listOf(const EnvironmentSource& source, const std::vector<Environment>& ofSession) {
  Listed listed;
  const auto added = source.added();
  if (!added.ok()) listed.problem = problemText(added.error());
  for (const Environment& environment : source.find()) {
    const bool isAdded = added.ok() && std::ranges::find(added.value(), environment) != added.value().end();
    listed.all.push_back(
        {.environment = environment, .isAdded = isAdded, .isConfirmed = source.isConfirmed(environment)});
  }
  for (const Environment& environment : ofSession) {
    const auto isIt = [&](const KnownEnvironment& one) { return one.environment.command == environment.command; };
    if (std::ranges::none_of(listed.all, isIt))
      listed.all.push_back(
          {.environment = environment, .isOfSession = true, .isConfirmed = source.isConfirmed(environment)});
  }
  return listed;
}

}  // namespace

Environments::Environments(const EnvironmentSource& source, QObject* parent) : QObject(parent), m_source(source) {}

void Environments::ask() {
  if (!std::exchange(m_isAsked, true)) list(false);
}

void Environments::setOfSession(std::vector<Environment> environments) {
  if (environments == m_ofSession) return;
  m_ofSession = std::move(environments);
  if (m_isAsked) list(false);
}

void Environments::askAgain() {
  m_isAsked = true;
  list(true);
}

void Environments::list(bool afresh) {
  m_isListing = true;
  m_jobs.run(
      kListTag, this,
      [source = &m_source, ofSession = m_ofSession](const StopToken&) { return listOf(*source, ofSession); },
      [this, afresh](const Listed& listed) {
        m_isListing = false;
        m_problem = listed.problem;
        const std::vector<KnownEnvironment> before = std::exchange(m_all, listed.all);
        for (KnownEnvironment& now : m_all) {
          const auto same = std::ranges::find(before, now.environment, &KnownEnvironment::environment);
          if (same != before.end()) {
            now.found = same->found;
            now.isLookedAt = same->isLookedAt;
          }
          if (afresh || (!now.found && !now.isLookedAt)) look(now, afresh);
        }
        emit changed();
      });
  emit changed();
}

void Environments::look(KnownEnvironment& environment, bool afresh) {
  if (!environment.isConfirmed) return;
  environment.isLookedAt = true;
  const auto work = [source = &m_source, of = environment.environment, afresh](const StopToken& stop) {
    return source->look(of, afresh, stop);
  };
  m_jobs.run(lookTag(environment.environment.name), this, work,
             [this, afresh, of = environment.environment](const Result<FoundEnvironment>& found) {
               KnownEnvironment* now = known(of.name);
               if (now == nullptr || now->environment != of) return;
               now->isLookedAt = false;
               if (found.ok()) now->found = found.value();
               if (afresh) emit renewed();
               emit changed();
             });
}

const KnownEnvironment* Environments::find(const std::string& name) const {
  const auto found = std::ranges::find(m_all, name, [](const KnownEnvironment& one) { return one.environment.name; });
  return found == m_all.end() ? nullptr : &*found;
}

KnownEnvironment* Environments::known(const std::string& name) {
  return const_cast<KnownEnvironment*>(std::as_const(*this).find(name));
}

void Environments::lookAgain(const std::string& name) {
  KnownEnvironment* environment = known(name);
  if (environment == nullptr) return;
  look(*environment, true);
  emit changed();
}

void Environments::changeList(std::function<Status()> work) {
  // Each job has its own tag, so that none replaces another.
  static int number = 0;
  m_jobs.run(
      QStringLiteral("change environments %1").arg(++number), this,
      [work = std::move(work)](const StopToken&) { return work(); },
      [this](const Status& done) {
        done.ok() ? emit renewed() : emit failed(problemText(done.error()));
        list(false);
      });
}

void Environments::confirm(const std::string& name) {
  const KnownEnvironment* environment = find(name);
  if (environment == nullptr) return;
  changeList([source = &m_source, of = environment->environment] { return source->confirm(of); });
}

void Environments::remove(const std::string& name) {
  m_jobs.cancel(lookTag(name));
  changeList([source = &m_source, name] { return source->remove(name); });
}

void Environments::tryNew(const Environment& environment, QObject* receiver, Tried done) {
  const auto work = [source = &m_source, environment](const StopToken& stop) -> Result<FoundEnvironment> {
    if (!source->isConfirmed(environment)) TRY(source->confirm(environment));
    return source->look(environment, true, stop);
  };
  m_jobs.run(kNewTag, receiver, work, std::move(done));
}

void Environments::cancelNew() {
  m_jobs.cancel(kNewTag);
}

void Environments::add(const Environment& environment, const std::optional<FoundEnvironment>& found) {
  std::erase_if(m_all, [&](const KnownEnvironment& one) { return one.environment.name == environment.name; });
  m_all.push_back({.environment = environment, .isAdded = true, .isConfirmed = true, .found = found});
  changeList([source = &m_source, environment] { return source->add(environment); });
}

}  // namespace fusescope
