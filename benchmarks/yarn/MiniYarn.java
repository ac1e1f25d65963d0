import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.hadoop.yarn.server.nodemanager.Context;
import org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.privileged.PrivilegedOperationExecutor;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.CGroupsHandler;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.ResourceHandler;
import org.apache.hadoop.yarn.server.nodemanager.containermanager.linux.resources.ResourceHandlerException;
import org.apache.hadoop.yarn.server.nodemanager.executor.ContainerStartContext;

/**
 * A YARN of one ResourceManager and some NodeManagers in one process, over the local file system.
 *
 * <p>Arguments: a folder, where it writes the configuration that clients need (HADOOP_CONF_DIR) and collects containers' logs, and
 * the number of NodeManagers. Properties in the folder's cluster.xml go before its own. Prints UP when it takes applications, and
 * ends when its standard input does.
 */
public class MiniYarn {
  private static final int MEMORY_MB_PER_NODE = 7168;
  private static final int CORES_PER_NODE = 8;
  private static final String QUEUE = "yarn.scheduler.capacity.root.default.";

  public static void main(String[] arguments) {
    try {
      run(arguments);
      System.exit(0); // Threads of the cluster outlive it.
    } catch (Exception error) {
      error.printStackTrace();
      System.exit(1);
    }
  }

  private static void run(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Files.createDirectories(folder.resolve("conf"));
    MiniYARNCluster cluster = new MiniYARNCluster("mini", Integer.parseInt(arguments[1]), 1, 1);
    cluster.init(configuration(folder));
    cluster.start();
    write(cluster.getConfig(), folder.resolve("conf/yarn-site.xml"));
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", "file:///");
    write(core, folder.resolve("conf/core-site.xml"));
    System.out.println("UP");
    while (System.in.read() != -1) {}
    cluster.stop();
  }

  private static Configuration configuration(Path folder) {
    Configuration made = new YarnConfiguration();
    // Its nodes have no more than this says, whatever yarn.nodemanager.resource.memory-mb is.
    made.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", MEMORY_MB_PER_NODE);
    made.setInt("yarn.nodemanager.resource.cpu-vcores", CORES_PER_NODE);
    made.setInt("yarn.scheduler.minimum-allocation-mb", 256);
    // Page processes reserve address space that they never touch.
    made.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    // A disk that is 90% full makes a node "unhealthy", and applications wait for ever.
    made.setFloat("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", 99.5f);
    made.set("yarn.scheduler.capacity.root.queues", "default");
    made.set(QUEUE + "capacity", "100");
    // Of so small a cluster a driver takes more than the tenth that is allowed it.
    made.set(QUEUE + "maximum-am-resource-percent", "0.8");
    made.setBoolean("yarn.log-aggregation-enable", true);
    made.set("yarn.nodemanager.remote-app-log-dir", folder.resolve("logs").toUri().toString());
    Configuration given = new Configuration(false);
    given.addResource(new org.apache.hadoop.fs.Path(folder.resolve("cluster.xml").toUri()));
    given.forEach(property -> made.set(property.getKey(), property.getValue()));
    // Java has compiled this file into a loader of its own.
    made.setClassLoader(MiniYarn.class.getClassLoader());
    return made;
  }

  private static void write(Configuration configuration, Path file) throws IOException {
    try (OutputStream stream = Files.newOutputStream(file)) {
      configuration.writeXml(stream);
    }
  }

  /**
   * Gives containers their GPUs as YARN's LinuxContainerExecutor does: by the same handler, which tells the program
   * yarn.nodemanager.linux-container-executor.path what to keep from a container. Only that there are no cgroups here.
   */
  public static class GpuExecutor extends DefaultContainerExecutor {
    private ResourceHandler handler;

    @Override
    public void init(Context context) throws IOException {
      super.init(context);
      CGroupsHandler none =
          (CGroupsHandler)
              Proxy.newProxyInstance(
                  CGroupsHandler.class.getClassLoader(), new Class<?>[] {CGroupsHandler.class}, (proxy, method, arguments) -> null);
      handler =
          context
              .getResourcePluginManager()
              .getNameToPlugins()
              .get("yarn.io/gpu")
              .createResourceHandler(context, none, PrivilegedOperationExecutor.getInstance(getConf()));
      try {
        handler.bootstrap(getConf());
      } catch (ResourceHandlerException error) {
        throw new IOException(error);
      }
    }

    @Override
    public int launchContainer(ContainerStartContext start)
        throws IOException, org.apache.hadoop.yarn.exceptions.ConfigurationException {
      try {
        handler.preStart(start.getContainer());
      } catch (ResourceHandlerException error) {
        throw new IOException(error);
      }
      return super.launchContainer(start);
    }

    @Override
    public void postComplete(ContainerId container) {
      super.postComplete(container);
      try {
        handler.postComplete(container);
      } catch (ResourceHandlerException error) {
        throw new IllegalStateException(error);
      }
    }
  }
}
