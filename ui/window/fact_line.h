#pragma once

#include <QPushButton>

#include "ui/document/background_builds.h"
#include "ui/document/prediction_check.h"

namespace fusescope {

/// The line of the status bar that says how many kernels are predicted of another compiler, how many it made, and
/// whether these are known at all. A click does what comes next: shows where the two differ, why there is no build, or
/// has it built. Hidden where our own compiler is chosen. It gives way where the window is narrow. GUI thread only.
class FactLine : public QPushButton {
  Q_OBJECT

 public:
  FactLine(const PlanDocument& document, const RunController& controller, BackgroundBuilds& builds,
           QWidget* parent = nullptr);
  /// All of it, however much is drawn.
  const QString& words() const { return m_words; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void differencesWanted();
  void problemWanted(const QString& problem);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void act();
  void say(const QString& words, const QString& tip, bool canBeClicked);
  int lineHeight() const;
  void elide();
  QString offText() const;

  const PlanDocument& m_document;
  const RunController& m_controller;
  BackgroundBuilds& m_builds;
  std::shared_ptr<const PlanSnapshot> m_counted;  ///< what the two below are of
  std::int64_t m_predicted = 0;
  std::optional<PredictionCheck> m_check;
  QString m_words;
};

}  // namespace fusescope
