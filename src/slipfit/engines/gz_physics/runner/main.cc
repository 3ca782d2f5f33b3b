// Drives a robot of an SDF world in gz-physics with the dartsim plugin and the WheelSlip update of gz-sim:
//
//   slip compliance = wheel_radius |joint velocity| / wheel_normal_force * compliance       (m/s/N), before every step
//
// Usage: slipfit_gz_runner JOB, where JOB is a text file of lines
//   world FILE            SDF file with one world
//   model NAME            the model that drives
//   base NAME             the link whose state is told
//   step SECONDS          step size
//   settle COUNT          steps with wheels held before the first record
//   steps COUNT           steps of the drive
//   commands FILE         COUNT rows of doubles, one per wheel: joint speeds in rad/s
//   record FILE           output: COUNT + 1 rows of doubles, see Record
//   wheel JOINT LINK SLIPPING LATERAL LONGITUDINAL    the last two times |joint velocity| are the compliances (s/N); with
//                         SLIPPING 0 the surface stays as the file says. Names with blanks are not possible.
// Errors: one line on standard error and exit code 2.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ignition/physics/FindFeatures.hh>
#include <ignition/physics/ForwardStep.hh>
#include <ignition/physics/FrameSemantics.hh>
#include <ignition/physics/GetContacts.hh>
#include <ignition/physics/GetEntities.hh>
#include <ignition/physics/Joint.hh>
#include <ignition/physics/RequestEngine.hh>
#include <ignition/physics/Shape.hh>
#include <ignition/physics/config.hh>
#include <ignition/physics/sdf/ConstructWorld.hh>
#include <ignition/plugin/Loader.hh>
#include <sdf/Root.hh>
#include <sdf/World.hh>

namespace physics = ignition::physics;

struct Features : physics::FeatureList<
  physics::ForwardStep,
  physics::GetEntities,
  physics::GetBasicJointState,
  physics::SetJointVelocityCommandFeature,
  physics::LinkFrameSemantics,
  physics::GetContactsFromLastStepFeature,
  physics::SetShapeFrictionPyramidSlipCompliance,
  physics::sdf::ConstructSdfWorld> {};

using Engine = physics::Engine3dPtr<Features>;
using World = physics::World3d<Features>;
using WorldPtr = physics::World3dPtr<Features>;
using JointPtr = physics::Joint3dPtr<Features>;
using LinkPtr = physics::Link3dPtr<Features>;
using ShapePtr = physics::Shape3dPtr<Features>;

struct Wheel
{
  std::string jointName, linkName;
  bool slips = false;
  double lateral = 0.0, longitudinal = 0.0;
  JointPtr joint;
  LinkPtr link;
  ShapePtr shape;
};

struct Job
{
  std::string world, model, base, commands, record;
  double step = 0.001;
  std::int64_t settle = 0, steps = 0;
  std::vector<Wheel> wheels;
};

static Job ReadJob(const std::string &_path)
{
  std::ifstream file(_path);
  if (!file)
    throw std::runtime_error("cannot read the job " + _path);
  Job job;
  std::string line;
  while (std::getline(file, line))
  {
    std::istringstream words(line);
    std::string key;
    words >> key >> std::ws;
    // Paths may have blanks: they are the rest of the line.
    if (key == "world") std::getline(words, job.world);
    else if (key == "commands") std::getline(words, job.commands);
    else if (key == "record") std::getline(words, job.record);
    else if (key == "model") std::getline(words, job.model);
    else if (key == "base") std::getline(words, job.base);
    else if (key == "step") words >> job.step;
    else if (key == "settle") words >> job.settle;
    else if (key == "steps") words >> job.steps;
    else if (key == "wheel")
    {
      Wheel wheel;
      words >> wheel.jointName >> wheel.linkName >> wheel.slips >> wheel.lateral >> wheel.longitudinal;
      job.wheels.push_back(wheel);
    }
    else if (!key.empty())
      throw std::runtime_error("the job has an unknown line: " + line);
    if (words.fail())
      throw std::runtime_error("the job has a line that cannot be read: " + line);
  }
  return job;
}

static Engine LoadEngine()
{
  ignition::plugin::Loader loader;
  const std::string path =
    std::string(IGNITION_PHYSICS_ENGINE_INSTALL_DIR) + "/libignition-physics-dartsim-plugin.so";
  loader.LoadLib(path);
  for (const auto &name : physics::FindFeatures3d<Features>::From(loader))
  {
    auto engine = physics::RequestEngine3d<Features>::From(loader.Instantiate(name));
    if (engine)
      return engine;
  }
  throw std::runtime_error("the dartsim plugin is not at " + path + ", or lacks a feature");
}

static WorldPtr LoadWorld(const Engine &_engine, const std::string &_path)
{
  sdf::Root root;
  const sdf::Errors errors = root.Load(_path);
  if (!errors.empty())
    throw std::runtime_error("sdformat: " + errors.front().Message());
  if (root.WorldCount() != 1)
    throw std::runtime_error("sdformat found no world in " + _path);
  auto world = _engine->ConstructWorld(*root.WorldByIndex(0));
  if (!world)
    throw std::runtime_error("gz-physics could not build the world of " + _path);
  return world;
}

// One collision on the ground in the last step.
struct Touch
{
  double count = 0.0, depth = 0.0;
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
};

class Drive
{
  public: Drive(const Job &_job, const Engine &_engine) : job(_job)
  {
    this->world = LoadWorld(_engine, _job.world);
    auto model = this->world->GetModel(_job.model);
    if (!model)
      throw std::runtime_error("the world has no model '" + _job.model + "'");
    this->base = model->GetLink(_job.base);
    if (!this->base)
      throw std::runtime_error("the model has no link '" + _job.base + "'");
    for (auto &wheel : this->job.wheels)
    {
      wheel.joint = model->GetJoint(wheel.jointName);
      wheel.link = model->GetLink(wheel.linkName);
      if (!wheel.joint || !wheel.link || wheel.link->GetShapeCount() != 1)
        throw std::runtime_error("the model has no wheel '" + wheel.linkName + "' with one collision on '" + wheel.jointName + "'");
      wheel.shape = wheel.link->GetShape(0);
      this->touches[wheel.shape->EntityID()] = Touch();
    }
    this->input.Get<std::chrono::steady_clock::duration>() =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(_job.step));
  }

  public: void Step(const double *_speeds)
  {
    for (std::size_t k = 0; k < this->job.wheels.size(); ++k)
    {
      auto &wheel = this->job.wheels[k];
      if (wheel.slips)
      {
        const double speed = std::abs(wheel.joint->GetVelocity(0));
        wheel.shape->SetPrimarySlipCompliance(wheel.lateral * speed);
        wheel.shape->SetSecondarySlipCompliance(wheel.longitudinal * speed);
      }
      wheel.joint->SetVelocityCommand(0, _speeds[k]);
    }
    this->world->Step(this->output, this->state, this->input);
    this->ReadContacts();
  }

  // Position, quaternion w x y z, velocity, angular velocity of the base link's origin, in the world; for each wheel joint angle
  // and speed, number of contacts, sinkage, and force on the wheel in the world's axes (the reader turns it into the wheel's).
  public: void Record(std::ofstream &_out)
  {
    const auto frame = this->base->FrameDataRelativeToWorld();
    const Eigen::Quaterniond turn(frame.pose.linear());
    const Eigen::Vector3d at = frame.pose.translation();
    std::vector<double> row = {at.x(), at.y(), at.z(), turn.w(), turn.x(), turn.y(), turn.z()};
    for (const auto &vector : {frame.linearVelocity, frame.angularVelocity})
      row.insert(row.end(), {vector.x(), vector.y(), vector.z()});
    for (const auto &wheel : this->job.wheels)
    {
      const Touch &touch = this->touches[wheel.shape->EntityID()];
      row.insert(row.end(), {wheel.joint->GetPosition(0), wheel.joint->GetVelocity(0), touch.count, touch.depth});
      row.insert(row.end(), {touch.force.x(), touch.force.y(), touch.force.z()});
    }
    _out.write(reinterpret_cast<const char *>(row.data()), row.size() * sizeof(double));
  }

  private: void ReadContacts()
  {
    for (auto &entry : this->touches)
      entry.second = Touch();
    for (const auto &contact : this->world->GetContactsFromLastStep())
    {
      const auto &point = contact.Get<World::ContactPoint>();
      const auto *extra = contact.Query<World::ExtraContactData>();
      if (!extra)
        continue;
      auto first = this->touches.find(point.collision1->EntityID());
      auto second = this->touches.find(point.collision2->EntityID());
      // The force acts on the first of the two.
      const double sign = first != this->touches.end() ? 1.0 : -1.0;
      auto found = first != this->touches.end() ? first : second;
      if (found == this->touches.end())
        continue;
      found->second.count += 1.0;
      found->second.depth = std::max(found->second.depth, static_cast<double>(extra->depth));
      found->second.force += sign * extra->force;
    }
  }

  private: Job job;
  private: WorldPtr world;
  private: LinkPtr base;
  private: std::map<std::size_t, Touch> touches;
  private: physics::ForwardStep::Input input;
  private: physics::ForwardStep::State state;
  private: physics::ForwardStep::Output output;
};

static std::vector<double> ReadCommands(const Job &_job)
{
  std::vector<double> speeds(_job.steps * _job.wheels.size());
  std::ifstream file(_job.commands, std::ios::binary);
  file.read(reinterpret_cast<char *>(speeds.data()), speeds.size() * sizeof(double));
  if (!file)
    throw std::runtime_error("the commands in " + _job.commands + " are shorter than the job says");
  return speeds;
}

int main(int argc, char **argv)
{
  if (argc == 2 && std::string(argv[1]) == "--version")
  {
    std::cout << "gz-physics " << IGNITION_PHYSICS_VERSION_FULL << " with dartsim" << std::endl;
    return 0;
  }
  try
  {
    if (argc != 2)
      throw std::runtime_error("expected one argument, the job's file");
    const Job job = ReadJob(argv[1]);
    const std::vector<double> speeds = ReadCommands(job);
    const std::vector<double> held(job.wheels.size(), 0.0);
    Drive drive(job, LoadEngine());
    for (std::int64_t k = 0; k < job.settle; ++k)
      drive.Step(held.data());
    std::ofstream out(job.record, std::ios::binary);
    drive.Record(out);
    for (std::int64_t k = 0; k < job.steps; ++k)
    {
      drive.Step(&speeds[k * job.wheels.size()]);
      drive.Record(out);
    }
    out.flush();
    if (!out)
      throw std::runtime_error("cannot write " + job.record);
  }
  catch (const std::exception &error)
  {
    std::cerr << error.what() << std::endl;
    return 2;
  }
  return 0;
}
